# SPDX-License-Identifier: Apache-2.0
# The front door: each target installs what it lacks (tools/setup-deps), builds with Meson and Ninja, does its job.
# `make help` lists them.
BUILD        ?= build
PREFIX       ?= /usr/local
FUZZ_SECONDS ?= 60
MESON_FLAGS  ?=
BENCH_FLAGS  ?=
SANITIZE      = -Dtests=enabled -Dbuildtype=debugoptimized -Db_lundef=false
# Whose sanitizers; and whether they look for leaks. That takes seconds in every
# process on aarch64, an empty program's too: LEAKS=1 asks for it nevertheless.
SANITIZER    ?= clang
LEAKS        ?= $(if $(filter aarch64,$(shell uname -m)),0,1)

.PHONY: all help demo site examples web wasm test test-web test-long test-mpi test-oom bench lint format asan tsan valgrind fuzz install deb deb-check coverage clean

all: ## build/orrery and the library (the default)
	@tools/setup-deps build
	@tools/configure $(BUILD) $(MESON_FLAGS)
	@tools/build $(BUILD) front

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

demo: all ## four questions answered, and a page of them (build/demo/report.html)
	@tools/demo $(BUILD)

site: ## the pages as a static site with search: build/site/index.html
	@tools/site $(BUILD)/site

examples: all ## every script of examples/, with what it prints
	@tools/run-examples $(BUILD)

web: ## web/dist/report.html from its TypeScript sources (needs node)
	@tools/setup-deps web
	@cd web && npm ci --no-audit --no-fund --loglevel=error && npx tsc --noEmit && node build.mjs

wasm: all ## training steps as WebAssembly, compared with the program (build-wasm/orrery.js; needs emscripten)
	@tools/setup-deps wasm
	@tools/wasm $(BUILD) build-wasm
	@CHROMIUM=$$(command -v chromium) SHOTS=build-wasm node tests/web/wasm.mjs $(BUILD)/orrery build-wasm/orrery.js

test-web: all ## the page in Chromium: every section, no fault of access, a million events
	@tools/setup-deps web-test
	@tools/test-web $(BUILD)

test: ## the tests; ends with "N passed, N failed"
	@tools/setup-deps test
	@tools/configure $(BUILD) -Dtests=enabled $(MESON_FLAGS)
	@tools/run-tests $(BUILD) --no-suite long

test-long: ## the tests, the slow ones and a trial installation
	@tools/setup-deps test
	@tools/configure $(BUILD) -Dtests=enabled $(MESON_FLAGS)
	@tools/run-tests $(BUILD)

# Built by both compilers, since neither build is part of `make test`: MPI's headers are others' code.
MPI_COMPILERS ?= gcc clang
MPI_KILLS     ?= 10
test-mpi: ## a build with MPI: sweeps and plans on four processes, and with ten workers killed
	@tools/setup-deps mpi
	@for cc in $(MPI_COMPILERS); do \
	    CC=$$cc tools/configure build-mpi-$$cc -Dmpi=enabled -Dtests=disabled -Dwerror=true && tools/build build-mpi-$$cc && \
	    tests/cli/mpi-equal "$$PWD/build-mpi-$$cc/orrery" 4 && \
	    tests/cli/mpi-kills "$$PWD/build-mpi-$$cc/orrery" $(MPI_KILLS) || exit 1; \
	done

test-oom: ## each allocation of each command refused in turn
	@tools/setup-deps test
	@tools/configure $(BUILD) -Dtests=enabled $(MESON_FLAGS)
	@tools/build $(BUILD) orrery tests/oom/librefuse.so
	@tools/oom $(BUILD)

bench: all ## speed and memory, beside ASTRA-sim's
	@$(BUILD)/bench/orrery-bench $(BENCH_FLAGS)

lint: ## format, warnings of gcc and clang, clang-tidy, cppcheck, layers
	@tools/setup-deps lint
	@tools/lint

format: ## rewrite the sources as clang-format wants them
	@tools/setup-deps lint
	@tools/sources | xargs clang-format -i

asan: ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer; QUICK=1: not the slow ones
	@[ $(SANITIZER) != clang ] || tools/setup-deps asan
	@CC=$(SANITIZER) $(if $(shell command -v ld.gold),CC_LD=gold CXX_LD=gold) \
	    tools/configure build-asan-$(SANITIZER) -Db_sanitize=address,undefined -Dtests=enabled \
	    -Dbuildtype=plain -Doptimization=1 -Dc_args=-g1 -Dcpp_args=-g1 -Db_lundef=false \
	    $(if $(filter clang,$(SANITIZER)),-Dwerror=true)
	@ASAN_OPTIONS=detect_leaks=$(LEAKS):exitcode=99 UBSAN_OPTIONS=print_stacktrace=1 ORRERY_REFERENCES_EVERY=4 \
	    tools/run-tests build-asan-$(SANITIZER) --no-suite long $(if $(QUICK),--no-suite slow) --timeout-multiplier=5

tsan: ## the tests under ThreadSanitizer
	@tools/setup-deps test
	@tools/configure build-tsan -Db_sanitize=thread $(SANITIZE)
	@tools/run-tests build-tsan --no-suite long

valgrind: ## the tests under valgrind (slow)
	@tools/setup-deps valgrind
	@tools/configure $(BUILD) -Dtests=enabled $(MESON_FLAGS)
	@tools/run-tests $(BUILD) --no-suite long --timeout-multiplier=20 \
	    --wrapper='valgrind --quiet --error-exitcode=99 --leak-check=full'

fuzz: ## every fuzz target for FUZZ_SECONDS (60)
	@tools/setup-deps fuzz
	@tools/fuzz $(FUZZ_SECONDS)

install: ## into PREFIX (/usr/local), below DESTDIR
	@tools/setup-deps build
	@tools/configure $(BUILD) -Dprefix=$(PREFIX) -Dlibdir=lib $(MESON_FLAGS)
	@tools/build $(BUILD) front
	@DESTDIR="$(DESTDIR)" meson install -C $(BUILD) --no-rebuild --quiet
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

deb: ## Debian packages: build-deb/orrery_*, liborrery0_*, liborrery-dev_*, python3-orrery_*.deb
	@tools/setup-deps deb
	@tools/configure build-deb -Dprefix=/usr -Dtests=disabled
	@tools/build build-deb front
	@rm -f build-deb/*.deb
	@tools/deb build-deb

deb-check: deb ## the packages installed and used on a bare Debian 12 (root, network)
	@tools/setup-deps deb-check
	@tools/check-deb build-deb

coverage: ## which lines of src/ the tests run, by folder and by file (build-coverage/coverage.txt)
	@tools/setup-deps coverage
	@CC=gcc tools/configure build-coverage -Db_coverage=true -Dtests=enabled -Dbuildtype=plain -Doptimization=0
	@ORRERY_REFERENCES_EVERY=20 tools/run-tests build-coverage --no-suite long --timeout-multiplier=5; status=$$?; \
	    tools/coverage build-coverage && exit $$status

clean: ## remove everything built
	rm -rf $(BUILD) build-asan-clang build-asan-gcc build-coverage build-deb build-mpi-gcc build-mpi-clang build-wasm build-tsan build-fuzz build-lint-gcc build-lint-clang
