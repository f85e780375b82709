NOTATIONS = {}
def literal(style, value): raise NotImplementedError
