# docker build -t kbnf . && docker run --rm -v "$PWD:/grammars" kbnf check
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN pip wheel --no-cache-dir --wheel-dir /wheels /source

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir /wheels/*.whl
USER nobody
ENV KBNF_CACHE_DIR=/tmp/kbnf
WORKDIR /grammars
ENTRYPOINT ["kbnf"]
