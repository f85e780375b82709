"""Railroad diagrams of grammars; the optional library railroad-diagrams draws them."""
