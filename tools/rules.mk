# What is done with the built program: tests, checks, the demo, installing. Included by Makefile.
#
# A test is an executable that prints TAP and leaves nothing behind. It runs in the top folder and
# finds the program in $HONE_BIN. To add one, put it where the wildcards below look.

# --- packages: tools/setup installs what is missing, once; SETUP_SKIP=1 trusts that all is there
SETUP := build/.setup
$(SETUP)/demo $(SETUP)/lint $(SETUP)/bench: | $(SETUP)/build
$(SETUP)/test: | $(SETUP)/demo
$(SETUP)/%: tools/setup
	$(if $(SETUP_SKIP),,tools/setup $*)
	@mkdir -p $(@D) && touch $@

# --- the pages: bundled, and packed into the program
WEB_SRC := $(filter-out %.test.ts,$(wildcard web/*.json web/*.mjs web/*.html web/src/* web/src/*/* web/src/*/*/*))
web/node_modules/.made: web/package-lock.json | $(SETUP)/build
	cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@
$(B)/pages.S: $(WEB_SRC) web/node_modules/.made tools/pack-pages.mjs
	node web/build.mjs $(CURDIR)/$(B)/web >/dev/null
	node tools/pack-pages.mjs $(B)/web $@
$(B)/pages.o: $(B)/pages.S
	$(CC) -c -o $@ $<

# --- examples that need building
EXAMPLES := $(patsubst examples/%.c,$(B)/examples/%,$(wildcard examples/fashion/fashion.c))

# These want OpenMP, which gcc brings along; for clang (OMP_CC=clang) it is Debian's libomp-dev.
# Built without sanitizers, which OMP_CC may not share with CC.
OMP_CC := gcc
SYSTEM := $(patsubst examples/%.c,$(B)/examples/%,$(wildcard examples/system/*.c))
SYSTEM_CC = $(OMP_CC) $(INCLUDE) -ffp-contract=off $(WARN) $(OPT) -g -fopenmp -MMD -MP

examples: $(EXAMPLES) $(SYSTEM) ## build the examples that are written in C

$(EXAMPLES:%=%.o): | $(SETUP)/demo
$(EXAMPLES): %: %.o $(B)/libhone-client.a
	$(CC) $(LDALL) -o $@ $^ -lopenblas -lz -lm -lpthread

$(B)/examples/system/hone.o: sdk/c/hone.c | $(SETUP)/build
	@mkdir -p $(@D)
	$(SYSTEM_CC) -c -o $@ $<
$(SYSTEM:%=%.o): $(B)/%.o: %.c | $(SETUP)/build
	@mkdir -p $(@D)
	$(SYSTEM_CC) -c -o $@ $<
$(SYSTEM): %: %.o $(B)/examples/system/hone.o
	$(OMP_CC) -fopenmp -o $@ $^ -lm -lpthread

demo: $(SETUP)/demo all examples ## install what is missing, build, search a small network on Fashion-MNIST
	$(B)/hone run examples/fashion/fashion.yaml

# --- tests
FUZZERS   := $(sort $(wildcard tests/fuzz/*_fuzz.c))
REPLAYERS := $(FUZZERS:%_fuzz.c=$(B)/%_replay)
FAKES     := $(patsubst %.c,$(B)/%.so,$(wildcard tests/*/fake_*.c))
SIM_OBJ   := $(patsubst %.c,$(B)/%.o,$(filter-out %_test.c,$(wildcard tests/sim/*.c)))
SWEEPS    := $(sort $(wildcard tests/sweep/*.sh tests/sweep/*.py tests/sweep/*.t))
SCRIPTS   := $(filter-out $(SWEEPS) tests/peers/%,$(sort $(wildcard tests/*/*.t tests/*/*.sh tests/*/*_test.py tests/*/*_test.mjs)))
SWEEP_ROUNDS ?= 50
TEST_FILES ?= $(TESTS) $(REPLAYERS) $(SCRIPTS) $(SWEEPS)

# Debian's own python3 goes first: tools/setup installed packages for that one.
TEST_ENV = PATH=/usr/bin:/bin:$$PATH HONE_BIN=$(CURDIR)/$(B)/hone HONE_BUILD=$(CURDIR)/$(B) SWEEP_ROUNDS=$(SWEEP_ROUNDS) \
    PYTHONPATH=$(CURDIR)/sdk/python PYTHONDONTWRITEBYTECODE=1 TZ=UTC LC_ALL=C.UTF-8 HONE_PORT=off \
    ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:handle_abort=0 \
    UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS=report_objects=1
PROVE = env -u HONE_HOME $(TEST_ENV) tools/prove $(JOBS)

tests: $(TESTS) $(REPLAYERS) $(FAKES) examples ## build the tests, run nothing

test: all tests ## install what is missing and run all tests (CC=, SAN=, TEST_FILES= narrow it)
	$(PROVE) $(TEST_FILES)

sweep: all tests ## the long kill sweeps: SWEEP_ROUNDS=1000
	$(if $(SWEEPS),$(PROVE) $(SWEEPS),@echo "no sweeps in tests/sweep")
sweep: SWEEP_ROUNDS = 1000

san: $(SETUP)/lint ## all tests, built by clang with address and undefined-behaviour sanitizers
	+$(MAKE) CC=clang SAN=address,undefined SWEEP_ROUNDS=10 test

PEERS := $(sort $(wildcard tests/peers/*.sh tests/peers/*.py tests/peers/*.t))
# A peer that cannot be installed here is skipped by its test, which says so.
test-peers: all ## tests against stock clients and engines of others
	$(if $(SETUP_SKIP),,-tools/setup peers)
	$(PROVE) $(PEERS)

$(filter $(B)/tests/sim/%,$(TESTS)): $(SIM_OBJ)

$(B)/%_replay: $(B)/%_fuzz.o $(B)/tests/fuzz/replay.o $(B)/libhone.a $(B)/libhone-client.a
	$(CC) $(LDALL) -o $@ $^ $(LIBS)

$(B)/tests/%.so: tests/%.c | $(SETUP)/build
	@mkdir -p $(@D)
	$(CC) $(INCLUDE) $(WARN) -O1 -g -shared -fPIC -o $@ $<

fuzz-replay: $(REPLAYERS) ## feed the corpora to what reads bytes from outside
	$(PROVE) $(REPLAYERS)

FUZZ_SECONDS ?= 60
fuzz: $(SETUP)/lint ## look for new inputs that break a reader, FUZZ_SECONDS=60 each
	+$(MAKE) CC=clang SAN=address,undefined,fuzzer-no-link run-fuzzers

# Finds go to build/fuzz; what is worth keeping is put into tests/fuzz/corpus by hand.
run-fuzzers: $(FUZZERS:%.c=run-%)
$(FUZZERS:%.c=run-%): run-tests/fuzz/%_fuzz: $(B)/tests/fuzz/%_fuzz
	@mkdir -p build/fuzz/$*
	cd build/fuzz/$* && $(CURDIR)/$< -max_total_time=$(FUZZ_SECONDS) -timeout=10 -print_final_stats=1 \
	    . $(CURDIR)/tests/fuzz/corpus/$*

$(B)/%_fuzz: $(B)/%_fuzz.o $(B)/libhone.a $(B)/libhone-client.a
	$(CC) $(LDALL) -fsanitize=fuzzer -o $@ $^ $(LIBS)

coverage: ## which lines the tests reach; the summary per file is at the end
	+$(MAKE) B=build/coverage CFLAGS='-O0 -g --coverage' LDFLAGS=--coverage test
	@for o in $$(find build/coverage/src -name '*.gcda' ! -name '*_test.gcda'); do gcov -n $$o; done \
	    | awk -F"'" '/^File .src/ { f = $$2 } /^Lines/ && f { print substr($$0, 16) "  " f; f = "" }' | sort -n

# --- benches: bench/RESULTS.md, written by the scripts
BENCHES := $(B)/bench/floor $(B)/bench/make_trials
BENCH   ?= noop footprint sdk

bench: $(SETUP)/bench all $(BENCHES) ## measure against goals and peers (BENCH= narrows it)
	env -u HONE_HOME HONE_BIN=$(CURDIR)/$(B)/hone HONE_BUILD=$(CURDIR)/$(B) bench/run $(BENCH)

$(BENCHES): %: %.o $(B)/libhone.a
	$(CC) $(LDALL) -o $@ $^ $(LIBS)

# Apart, because it takes hours. A program is a file with a main; the others are its parts.
SEARCH_MAINS := $(shell grep -l '^int main' bench/search/*.c)
SEARCH_PARTS := $(filter-out $(SEARCH_MAINS),$(wildcard bench/search/*.c))
SEARCH_BENCH := $(SEARCH_MAINS:%.c=$(B)/%)

bench-search: bench-search-quick ## how good a setting the search finds, beside its peers: two hours
bench-search-full bench-search-quick: bench-search-%: $(SETUP)/bench all $(SEARCH_BENCH)
	HONE_BUILD=$(CURDIR)/$(B) bench/search/run $*
bench-search-full: ## the same with the slow peers and all our searchers: a day

$(SEARCH_BENCH): %: %.o $(B)/bench/search/parts.a $(B)/libhone.a
	$(CC) $(LDALL) -o $@ $^ $(LIBS) -lz
MACHINE_SIM := $(filter %/machine.o,$(SIM_OBJ)) $(filter $(B)/tests/sim/machine_%,$(SIM_OBJ))
$(B)/bench/machine/%: $(B)/bench/machine/%.o $(MACHINE_SIM) $(B)/bench/search/parts.a $(B)/libhone.a
	$(CC) $(LDALL) -o $@ $^ $(LIBS) -lz
$(B)/bench/series/%: $(B)/bench/series/%.o $(B)/libhone.a
	$(CC) $(LDALL) -o $@ $^ $(LIBS)
$(B)/bench/web/%: $(B)/bench/web/%.o $(B)/libhone.a
	$(CC) $(LDALL) -o $@ $^ $(LIBS)
$(B)/bench/search/parts.a: $(SEARCH_PARTS:%.c=$(B)/%.o)
	@rm -f $@
	ar rcs $@ $^
$(SEARCH_MAINS:%.c=$(B)/%.o) $(SEARCH_PARTS:%.c=$(B)/%.o): | $(SETUP)/bench

# --- checks that need no running
C_FILES    := $(sort $(wildcard src/*/*.[ch] src/*/*/*.[ch] sdk/c/*.[ch] tests/*.h tests/*/*.[ch] examples/*/*.[ch] bench/*.[ch] bench/*/*.[ch]))
LINT_FILES := $(filter %.c,$(filter-out tests/% %_test.c,$(C_FILES)))
# The keeper makes its system calls by hand; clang's analyser takes what they fill for garbage.
TIDY_FILES := $(filter-out src/exec/keeper/%,$(LINT_FILES))

lint: lint-format lint-layers lint-cppcheck lint-tidy lint-clang lint-docs lint-web ## format, layers, cppcheck, clang-tidy, clang, docs, types

lint-format: $(SETUP)/lint
	clang-format --dry-run -Werror $(C_FILES)

format: $(SETUP)/lint ## lay out the C files as .clang-format says
	clang-format -i $(C_FILES)

lint-layers:
	tools/check-layers

# Copying a struct, a const that could be, a variable whose scope could be smaller: style is ours.
lint-cppcheck: $(SETUP)/lint
	@mkdir -p $(B)/cppcheck
	cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr --cppcheck-build-dir=$(B)/cppcheck \
	    --enable=warning,performance,portability --suppress=missingIncludeSystem \
	    --suppress=unknownMacro --suppress=preprocessorErrorDirective \
    --suppress=comparePointers:src/exec/keeper_image.c -D__GNUC__ -D_GNU_SOURCE \
	    -DHONE_VERSION='""' -Isrc -Isdk/c -I. -j$(JOBS) $(LINT_FILES)

lint-tidy: $(TIDY_FILES:%.c=$(B)/tidy/%.ok)
$(B)/tidy/%.ok: %.c .clang-tidy | $(SETUP)/lint
	@mkdir -p $(@D)
	clang-tidy --quiet $< -- $(INCLUDE) 2>/dev/null
	@touch $@

lint-web: web/node_modules/.made
	cd web && node node_modules/typescript/bin/tsc --noEmit

lint-clang: $(SETUP)/lint
	+$(MAKE) CC=clang all tests

# These are made by the program itself, and kept so that they can be read without building.
DOCS := docs/spec.md docs/commands.md docs/hone.1 docs/completion.bash
docs_docs/spec.md         := --spec
docs_docs/commands.md     := --markdown
docs_docs/hone.1          := --man
docs_docs/completion.bash := --completion

lint-docs: all
	@for pair in $(foreach d,$(DOCS),$(d)=$(docs_$(d))); do \
	    $(B)/hone help $${pair#*=} | cmp - $${pair%%=*} || { echo "$${pair%%=*} is old: make docs"; exit 1; }; \
	done

docs: all ## write anew the docs that the program makes
	$(foreach d,$(DOCS),$(B)/hone help $(docs_$(d)) > $(d) &&) true

# --- installing
# Where Python of that prefix looks, if there is such a place.
PYTHONDIR ?= $(or $(shell python3 -c "import sys; print(*[p for p in sys.path if \
    p.startswith('$(PREFIX)/lib') and p.endswith('packages')][:1])" 2>/dev/null),$(PREFIX)/share/hone/python)

install: all ## install under PREFIX (/usr/local); DESTDIR= for packages
	install -Dm755 $(B)/hone $(DESTDIR)$(PREFIX)/bin/hone
	install -Dm644 $(B)/libhone-client.a $(DESTDIR)$(PREFIX)/lib/libhone-client.a
	install -Dm755 $(B)/libhone-search.so $(DESTDIR)$(PREFIX)/lib/libhone-search.so
	install -Dm644 -t $(DESTDIR)$(PREFIX)/include sdk/c/hone.h sdk/c/hone_search.h
	install -Dm644 -t $(DESTDIR)$(PYTHONDIR)/hone sdk/python/hone/*.py sdk/python/hone/py.typed
	install -Dm644 docs/hone.1 $(DESTDIR)$(PREFIX)/share/man/man1/hone.1
	install -Dm644 docs/completion.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/hone
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/doc/hone README.md LICENSE CHANGELOG.md docs/*.md

help: ## this list
	@echo "make                   build $(B)/hone"
	@awk -F':.*## ' '/^[a-z][a-z-]*:.*## / { printf "make %-17s %s\n", $$1, $$2 }' Makefile tools/rules.mk

.PHONY: examples demo tests test bench bench-search bench-search-full bench-search-quick sweep san test-peers fuzz-replay fuzz run-fuzzers coverage docs install help format \
        lint lint-format lint-layers lint-cppcheck lint-tidy lint-clang lint-docs lint-web $(FUZZERS:%.c=run-%)
