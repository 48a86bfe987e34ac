# Hone: one Makefile, not recursive. `make help` lists what it can do.
#
#   make                                  build/hone
#   make SAN=address,undefined CC=clang   the same under sanitizers, built beside
ifeq ($(origin CC),default)
CC := gcc
endif
SAN      ?=
PREFIX   ?= /usr/local
OPT      ?= -O2
JOBS     ?= $(shell nproc)

VERSION  := 0.1.0
B        := build$(if $(SAN)$(filter-out gcc,$(CC)),/$(CC)$(if $(SAN),-$(subst $(comma),-,$(SAN))))
comma    := ,
PKGS     := libuv sqlite3 libfyaml jansson
CFLAGS   ?= $(OPT) -g
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla \
            -Wformat=2 -Wundef -Werror
ALLFLAGS  = -std=gnu17 -D_GNU_SOURCE -DHONE_VERSION='"$(VERSION)"' -Isrc -Isdk/c -I. -fno-common $(WARN) \
            $(CFLAGS) $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
LDALL     = $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN)) -rdynamic
LIBS      = $(shell pkg-config --libs $(PKGS)) -lm -lpthread -ldl

SRC      := $(sort $(wildcard src/*/*.c))
TEST_SRC := $(filter %_test.c,$(SRC)) $(sort $(wildcard tests/unit/*_test.c tests/sim/*_test.c))
LIB_SRC  := $(filter-out %_test.c src/cli/main.c,$(SRC))
KEEPER   := $(sort $(wildcard src/exec/keeper/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o) $(B)/src/exec/keeper_image.o
TESTS    := $(TEST_SRC:%.c=$(B)/%)

all: $(B)/hone $(B)/libhone-client.a

-include tools/rules.mk

$(B)/hone: $(B)/src/cli/main.o $(B)/libhone.a
	$(CC) $(LDALL) -o $@ $^ $(LIBS)

$(B)/libhone.a: $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $(LIB_OBJ)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALLFLAGS) -MMD -MP -c -o $@ $<

# The keeper is static and small, built without sanitizers, and carried inside hone.
$(B)/keeper: $(KEEPER) src/exec/state_file.h src/base/crc32c.h
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE -Isrc $(WARN) -Os -g0 -static -fno-stack-protector \
	    -fno-asynchronous-unwind-tables -ffunction-sections -Wl,--gc-sections -Wl,-z,norelro -s -o $@ $(KEEPER)

$(B)/src/exec/keeper_image.o: src/exec/keeper_image.S $(B)/keeper
	@mkdir -p $(@D)
	$(CC) -DKEEPER_PATH='"$(B)/keeper"' -c -o $@ src/exec/keeper_image.S

$(B)/libhone-client.a: sdk/c/hone.c sdk/c/hone.h
	@mkdir -p $(B)/sdk
	$(CC) $(ALLFLAGS) -fPIC -c -o $(B)/sdk/hone.o sdk/c/hone.c
	@rm -f $@
	ar rcs $@ $(B)/sdk/hone.o

$(B)/%_test: $(B)/%_test.o $(B)/libhone.a
	$(CC) $(LDALL) -o $@ $< $(B)/libhone.a -lcmocka $(LIBS)

tests: $(TESTS)

clean:
	rm -rf build

.PHONY: all tests clean
.SECONDARY:
-include $(LIB_SRC:%.c=$(B)/%.d) $(B)/src/cli/main.d $(TEST_SRC:%.c=$(B)/%.d)
