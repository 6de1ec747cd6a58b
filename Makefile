# One verb per need. Only Python 3.11 or newer, make and git have to be there: uv and Go are fetched when missing.
UV_VERSION := 0.13.9
TOOLS := .tools/uv
UV := $(shell command -v uv 2>/dev/null || echo $(TOOLS)/bin/uv)
RUN := $(UV) run --locked
ONLY ?=
NAME ?= default

.DEFAULT_GOAL := help
.PHONY: help demo test lint fix bench reliability alone golden lab-up lab-down toolchain environment

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: toolchain ## watch a wrong deployment be refused, a right one come, scale, shrink, roll, heal and go, and a routed pair, on a real control plane (KEEP=1 leaves it up)
	@$(RUN) md-lab demo

test: toolchain ## run every test, those on the real control plane included
	$(RUN) pytest -n auto

lint: environment ## check style, types and who imports whom
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy
	$(RUN) lint-imports

fix: environment ## repair what ruff can repair
	$(RUN) ruff check --fix
	$(RUN) ruff format

bench: toolchain ## measure every goal into .bench/latest.json (ONLY=id,id measures some)
	$(RUN) md-lab bench $(if $(ONLY),--only $(ONLY))

reliability: environment ## crash the controllers everywhere on the fake world, hunt seeded bugs, rewrite docs/reliability.md
	$(RUN) md-lab reliability

alone: environment ## prove that each package's wheel passes its tests with nothing but what it declares
	UV=$(abspath $(UV)) .ci/alone

golden: environment ## rewrite the golden files; the diff is the review
	UPDATE_GOLDEN=1 $(RUN) pytest -q -m "not lab" -k golden packages

lab-up: toolchain ## start a control plane and print its KUBECONFIG (NAME=default)
	@$(RUN) md-lab up --name $(NAME)

lab-down: environment ## stop it (NAME=demo for what the demo kept)
	@$(RUN) md-lab down --name $(NAME)

toolchain: environment
	@$(RUN) md-lab build

environment: $(if $(filter $(TOOLS)/%,$(UV)),$(TOOLS)/bin/uv)
	@$(UV) sync --locked --quiet --compile-bytecode

$(TOOLS)/bin/uv:
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "python3 is older than 3.11: install a newer Python and put it first on PATH" >&2; exit 1; }
	@mkdir -p $(TOOLS)/bin
	@{ python3 -m venv $(TOOLS) && $(TOOLS)/bin/python -m pip install --quiet uv==$(UV_VERSION); } 2>/dev/null || \
	  { python3 -m pip install --quiet --target $(TOOLS)/lib uv==$(UV_VERSION) && ln -sf ../lib/bin/uv $@; } || \
	  { echo "uv could not be installed: install it from your package index (pip install uv==$(UV_VERSION))" >&2; exit 1; }
