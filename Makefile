# SPDX-License-Identifier: GPL-2.0-only

KERNEL ?= 6.12

.DEFAULT_GOAL := help

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make demo         where real programs' threads run, without and with llc_gran
demo: setup kernel-6.12 bench
	@tools/demo/run

## make check        all tests: user space, build, virtual machines
check: setup
	@tests/run

## make check-fast   unit tests and compile checks, under a minute
check-fast: setup
	@tests/run --fast

## make module       build llc_gran.ko for KERNEL (6.12) into out/module/
image = $(shell tools/kernel/build --path $(KERNEL))
module_dir = out/module/$(shell cat $(image)/release)
module:
	@test -n "$(image)"
	@mkdir -p $(module_dir)
	@rsync -a --delete --exclude='*.o' --exclude='*.ko' --exclude='*.mod*' \
		--exclude='.*' --exclude='Module.symvers' --exclude=modules.order \
		Kbuild dkms.conf module include $(module_dir)/
	@$(MAKE) -s -C $(image)/build M=$(CURDIR)/$(module_dir) modules

## make dkms-source  copy what dkms builds to DESTDIR/usr/src/llc_gran-VERSION
version = $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
dkms-source:
	@mkdir -p $(DESTDIR)/usr/src/llc_gran-$(version)
	@cp -r COPYING Kbuild dkms.conf include module $(DESTDIR)/usr/src/llc_gran-$(version)/

## make bench        build the measuring programs into out/bench/
bench: out/bench/spin out/bench/llcwatch out/bench/cost

# Static, so that what exec costs is the kernel's part.
out/bench/cost: tools/bench/cost.c
	@mkdir -p $(@D)
	@$(CC) -O2 -Wall -Wextra -Werror -static -o $@ $< -pthread

out/bench/%: tools/bench/%.c tools/bench/watch.c tools/bench/watch.h
	@mkdir -p $(@D)
	@$(CC) -O2 -Wall -Wextra -Werror -o $@ $< tools/bench/watch.c -pthread

## make kernel-6.12  build the hooked kernel (also -6.12-stock, -6.12-debug)
kernel-%:
	@tools/kernel/build $* >/dev/null

setup:
	@tools/setup

## make clean        remove out/; built kernels are cached elsewhere
clean:
	@rm -rf out

.PHONY: help demo check check-fast module dkms-source bench setup clean
