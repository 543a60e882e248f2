# The few commands that everyone needs; `make help` lists them. CMake does the work: presets in CMakePresets.json.
PRESET ?= release
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
EPOCHS ?= 20

.PHONY: help setup configure build programs mnist test check-kernels bench bundle test-bundle format tidy install clean

help:
	@echo "make mnist    train MNIST on the CPU ($(EPOCHS) epochs) and print Chainer's table"
	@echo "make test     build and run all tests"
	@echo "make build    build the library, the tools, the examples and the tests (PRESET=release|debug|asan|tsan)"
	@echo "make programs build the library, the tools and the examples only"
	@echo "make install  install into PREFIX ($(PREFIX))"
	@echo "make bundle   make dist/catenary-VERSION-ARCH-linux.tar.gz, which runs from any folder without root"
	@echo "make bench    measure"
	@echo "make check-kernels  compile the kernels of the tests by NVRTC and hipRTC for cards that need not be here"
	@echo "make format   clang-format all sources     make tidy   clang-tidy all sources"
	@echo "All but format and tidy first install what is missing (scripts/setup asks; CI=1 answers yes)."

setup:
	@scripts/setup $(SETUP)

configure: setup
	@[ -f $(BUILD)/build.ninja ] || cmake --preset $(PRESET)

build: configure
	cmake --build $(BUILD) -j $(JOBS)

programs: configure
	cmake --build $(BUILD) -j $(JOBS) --target programs

mnist: configure
	cmake --build $(BUILD) -j $(JOBS) --target train_mnist
	$(BUILD)/bin/train_mnist -d cpu -e $(EPOCHS) -o result

test: SETUP += --with-test
test: build
	@rm -rf $(BUILD)/test-results
	ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure --output-junit test-results/ctest.xml
	@scripts/count_tests $(BUILD)

# The tests run on a simulated card, which keeps what it was asked for; KERNELS=--some is the short form.
KERNEL_ROOMS ?= device array functions
check-kernels: build
	@rm -rf $(BUILD)/simgpu/kernels
	@for room in $(KERNEL_ROOMS); do \
	  LD_LIBRARY_PATH=$(BUILD)/simgpu/cuda CATENARY_CACHE_DIR=$(BUILD)/simgpu/cache CATENARY_KERNEL_LOG=$(BUILD)/simgpu/kernels \
	    $(BUILD)/bin/test_$$room --device cuda:0 >$(BUILD)/simgpu/$$room.log || { tail -n 40 $(BUILD)/simgpu/$$room.log; exit 1; }; done
	@$(BUILD)/bin/check-kernels $(KERNELS) $(BUILD)/simgpu/kernels

bench: build
	@for program in $(BUILD)/bin/bench_*; do echo "== $$program"; $$program || exit 1; done

bundle:
	@scripts/setup --with-bundle
	@$(MAKE) --no-print-directory build PRESET=release
	@scripts/make_bundle build/release

test-bundle: bundle
	@scripts/test_bundle dist/catenary-*.tar.gz

format:
	@scripts/setup --with-dev
	git ls-files '*.h' '*.cpp' | xargs clang-format -i

tidy:
	@scripts/setup --with-dev
	@$(MAKE) --no-print-directory configure
	@scripts/tidy $(BUILD)

install: programs
	cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build dist
