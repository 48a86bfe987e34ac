# Hone: one Makefile, not recursive; tools/rules.mk has everything but the build itself.
#
#   make                                  build/hone, build/libhone-search.so, build/libhone-client.a
#   make SAN=address,undefined CC=clang   the same under sanitizers, built beside
#   make help                             what else it can do
ifeq ($(origin CC),default)
CC := gcc
endif
SAN      ?=
PREFIX   ?= /usr/local
OPT      ?= -O2
JOBS     ?= $(shell nproc)
comma    := ,

VERSION  := 0.1.0
B        := build$(if $(SAN)$(filter-out gcc,$(CC)),/$(CC)$(if $(SAN),-$(subst $(comma),-,$(SAN))))
PKGS     := libuv sqlite3 libfyaml jansson zlib
CFLAGS   ?= $(OPT) -g
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla \
            -Wformat=2 -Wundef -Werror
INCLUDE  := -std=gnu17 -D_GNU_SOURCE -DHONE_VERSION='"$(VERSION)"' -Isrc -Isdk/c -I.
# No fused multiply-add: the same bits from every compiler.
ALLFLAGS  = $(INCLUDE) -fno-common -ffp-contract=off $(WARN) $(CFLAGS) \
            $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer $(if $(filter gcc,$(CC)),-Wno-format-truncation))
LDALL     = $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN)) -rdynamic
LIBS      = $(shell pkg-config --libs $(PKGS)) -lm -lpthread -ldl

SRC      := $(sort $(wildcard src/*/*.c))
TEST_SRC := $(filter %_test.c,$(SRC)) $(sort $(wildcard tests/*/*_test.c))
LIB_SRC  := $(filter-out %_test.c src/cli/main.c,$(SRC))
KEEPER   := $(sort $(wildcard src/exec/keeper/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o) $(B)/keeper_bytes.o $(B)/pages.o
TESTS    := $(TEST_SRC:%.c=$(B)/%)

ifeq ($(MAKELEVEL)$(filter -j% --jobserver%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(JOBS)
endif

all: $(B)/hone $(B)/libhone-client.a $(B)/libhone-search.so

include tools/rules.mk

$(B)/hone: $(B)/src/cli/main.o $(B)/libhone.a
	$(CC) $(LDALL) -o $@ $^ $(LIBS)

$(B)/libhone.a: $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $(LIB_OBJ)

$(B)/%.o: %.c | $(SETUP)/build
	@mkdir -p $(@D)
	$(CC) $(ALLFLAGS) -MMD -MP -c -o $@ $<

# The keeper is static and small, built without sanitizers, and carried inside hone.
$(B)/keeper: $(KEEPER) $(wildcard src/exec/keeper/*.h src/exec/*.h) src/base/crc32c.h | $(SETUP)/build
	@mkdir -p $(@D)
	$(CC) $(INCLUDE) $(WARN) -Os -g0 -static -fno-stack-protector -fno-asynchronous-unwind-tables \
	    -ffunction-sections -Wl,--gc-sections -Wl,-z,norelro -s -o $@ $(KEEPER)

$(B)/keeper_bytes.o: src/exec/keeper_image.S $(B)/keeper
	$(CC) -DKEEPER_PATH='"$(B)/keeper"' -c -o $@ src/exec/keeper_image.S

$(B)/sdk/c/hone.o: CFLAGS += -fPIC
$(B)/libhone-client.a: $(B)/sdk/c/hone.o
	@rm -f $@
	ar rcs $@ $^

# Without sanitizers, so that any Python can load it: the same code is tested in libhone.a.
SEARCH_SRC := $(filter $(addprefix src/,$(addsuffix /%,base linalg model surrogate expr spec search lib)),$(LIB_SRC))
$(B)/libhone-search.so: $(SEARCH_SRC:%.c=$(B)/%.pic.o) src/lib/exports.map
	$(CC) $(LDFLAGS) -shared -Wl,-soname,libhone-search.so -Wl,--version-script=src/lib/exports.map \
	    -Wl,-z,defs -Wl,-Bsymbolic -Wl,--gc-sections -o $@ $(filter %.o,$^) $(shell pkg-config --libs libfyaml jansson) -lm -lpthread -ldl

$(B)/%.pic.o: %.c | $(SETUP)/build
	@mkdir -p $(@D)
	$(CC) $(INCLUDE) -fno-common -ffp-contract=off $(WARN) $(CFLAGS) -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections \
	    -MMD -MP -c -o $@ $<

$(B)/%_test: $(B)/%_test.o $(B)/libhone.a $(B)/libhone-client.a
	$(CC) $(LDALL) -o $@ -Wl,--start-group $^ -Wl,--end-group -lcmocka $(LIBS)

$(TEST_SRC:%.c=$(B)/%.o): | $(SETUP)/test

clean: ## remove what was built
	rm -rf build

.PHONY: all clean
.SECONDARY:
.DELETE_ON_ERROR:
ifneq ($(filter clean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
-include $(wildcard $(B)/*/*/*.d)
