# The common commands. `make help` lists them. They call CMake with the presets of CMakePresets.json.
PRESET ?= release
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
EPOCHS ?= 20
PYTHON ?= python3

.PHONY: help setup configure build programs mnist test test-all check-kernels bench bench-peers bundle test-bundle deb dist test-dist python test-python test-installed fuzz-python wheel test-wheel docs test-docs windows test-windows test-windows-zip format tidy install clean

help:
	@echo "make mnist          train a small network on MNIST on the CPU ($(EPOCHS) epochs) and print its progress"
	@echo "make build          build the library, the tools, the examples and the tests (PRESET=release|debug|asan|tsan)"
	@echo "make programs       build only the library, the tools and the examples"
	@echo "make install        install the build into PREFIX ($(PREFIX))"
	@echo
	@echo "make test           build and run the tests: all tests of the CPU, and a fortieth of the tests of devices (20 minutes on two cores)"
	@echo "make test-all       run all tests, also of Python and with sanitizers, and the fuzzers (.ci/run --whole, many hours)"
	@echo "make check-kernels  compile the kernels of all tests with NVRTC and hipRTC for 13 GPUs (no GPU is needed)"
	@echo "make bench          run all benchmarks"
	@echo "make bench-peers    compare the speed with PyTorch, JAX, NumPy and ONNX Runtime (PEERS=--help shows the options; needs PyPI)"
	@echo
	@echo "make python         install the Python package into build/python/venv, with the library of build/release (needs PyPI)"
	@echo "make test-python    test the package in build/python/venv"
	@echo "make test-installed test the package that scripts/test_install installed with pip"
	@echo "make fuzz-python    compare random array programs on NumPy and on catenary.cupy (FUZZ=--help shows the options)"
	@echo
	@echo "make wheel          make wheels in dist/: for PYTHON ($(PYTHON)), and for Python 3.12 and later (needs PyPI)"
	@echo "make test-wheel     install the wheels of dist/ into fresh environments and test them"
	@echo "make bundle         make dist/catenary-VERSION-ARCH-linux.tar.gz, which runs from any folder, without root"
	@echo "make test-bundle    run the programs of the bundle on an empty system"
	@echo "make deb            make the Debian packages libcatenary, libcatenary-dev and catenary-tools in dist/, for this release of the system"
	@echo "make windows        make dist/catenary-VERSION-windows.zip: the programs for Windows, compiled by clang and mingw-w64 (on Debian)"
	@echo "make test-windows   build the system layer for Windows by clang and mingw-w64, and run its tests by Wine (on Debian)"
	@echo "make test-windows-zip unpack the zip of dist/ and run its programs by Wine"
	@echo "make dist           empty dist/ and make all packages and SHA256SUMS there"
	@echo "make test-dist      install each package of dist/ in a clean system and test it (needs root)"
	@echo
	@echo "make docs           build the HTML site of the documentation in build/docs/html (needs PyPI)"
	@echo "make test-docs      build that site, check its links, and search it in a browser"
	@echo
	@echo "make format         format all C++ sources with clang-format"
	@echo "make tidy           check all C++ sources with clang-tidy"
	@echo
	@echo "Most commands first install missing packages. scripts/setup asks before it does so, unless CI=1 is set."

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

# CATENARY_TEST_SHARE=1 runs all device tests. CATENARY_TEST_TURN=3 chooses the fourth part of them (tests/share.h).
test: SETUP += --with-test
test: export CATENARY_TEST_SHARE := $(or $(CATENARY_TEST_SHARE),0.025)
test: build
	@rm -rf $(BUILD)/test-results $(BUILD)/simgpu/kernels
	ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure --output-junit test-results/ctest.xml
	@scripts/count_tests $(BUILD)

test-all:
	@.ci/run --whole

# The tests on simulated cards record their kernels. KERNELS holds options of check-kernels.
check-kernels: SETUP += --with-kernels
check-kernels: build
	@[ $(BUILD)/simgpu/kernels -nt $(BUILD)/lib/libcatenary.so ] || { rm -rf $(BUILD)/simgpu/kernels; \
	  ctest --test-dir $(BUILD) -j $(JOBS) -R ^simgpu_ --output-on-failure; }
	@LD_LIBRARY_PATH=build/wheels/nvidia/cuda_nvrtc/lib $(BUILD)/bin/check-kernels $(KERNELS) $(BUILD)/simgpu/kernels

bench: build
	@for program in $(BUILD)/bin/bench_*; do echo "== $$program"; $$program || exit 1; done

bench-peers: build
	@python3 benchmarks/peers/compare.py $(BUILD) $(PEERS)

bundle:
	@scripts/setup --with-bundle
	@$(MAKE) --no-print-directory programs PRESET=release
	@scripts/make_bundle build/release

test-bundle:
	@scripts/gpu_check pack array
	@scripts/test_bundle dist/catenary-*-linux.tar.gz dist/catenary-gpu-check.tar.gz

# This build is separate, because the libraries in /usr have another folder (lib/x86_64-linux-gnu). ccache shares the objects.
deb:
	@scripts/setup --with-dist
	@$(MAKE) --no-print-directory programs PRESET=deb
	@rm -f dist/*.deb
	cd build/deb && cpack -G DEB -D CPACK_OUTPUT_FILE_PREFIX=$(CURDIR)/dist

windows:
	@scripts/setup --with-windows
	@cmake --preset windows
	cmake --build build/windows -j $(JOBS) --target programs
	@scripts/make_windows build/windows

test-windows-zip:
	@scripts/setup --with-windows
	@scripts/test_windows dist/catenary-*-windows.zip

test-windows:
	@scripts/setup --with-windows
	@cmake --preset windows
	cmake --build build/windows -j $(JOBS) --target test_os
	ctest --test-dir build/windows --output-on-failure --output-junit test-results/ctest.xml -R ^os$$
	@scripts/count_tests build/windows

dist:
	@rm -rf dist
	@$(MAKE) --no-print-directory wheel
	@$(MAKE) --no-print-directory bundle
	@$(MAKE) --no-print-directory deb
	@cd dist && sha256sum *.whl *.tar.gz *.deb >SHA256SUMS && cat SHA256SUMS

# DIST holds steps of test_dist.
test-dist:
	@scripts/setup --with-dist --with-bundle
	@PYTHON=$(PYTHON) ABI3=$(ABI3) scripts/test_dist $(DIST)

# Builds the extension against the library of this build, in an environment made with the interpreter PYTHON.
VENV := build/python/venv
python: SETUP += --with-python
python: configure
	cmake --build $(BUILD) -j $(JOBS) --target catenary catenary_command
	@[ -x $(VENV)/bin/python ] || $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -c 'import nanobind, numpy, pytest, scipy, xdist' 2>/dev/null || \
	  $(VENV)/bin/pip install --quiet --disable-pip-version-check 'nanobind>=3,<4' 'numpy>=1.26' pytest pytest-xdist scipy
	cmake -S python -B build/python/$(PRESET) -G Ninja -DCMAKE_BUILD_TYPE=Release -DCATENARY_BUILD=$(CURDIR)/$(BUILD) \
	  -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/bin/python
	cmake --build build/python/$(PRESET) -j $(JOBS)
	@rm -rf $(VENV)/lib/python*/site-packages/catenary
	cmake --install build/python/$(PRESET) --prefix "$$($(VENV)/bin/python -c 'import site; print(site.getsitepackages()[0])')"

test-python: SETUP += --with-test
test-python: python
	cmake --build $(BUILD) -j $(JOBS) --target simgpu
	@scripts/test_python $(VENV)/bin/python $(BUILD) -n $(JOBS)

test-installed: SETUP += --with-test
test-installed: configure
	cmake --build $(BUILD) -j $(JOBS) --target simgpu
	@build/install/venv/bin/pip install --quiet --disable-pip-version-check pytest pytest-xdist scipy
	@scripts/test_python build/install/venv/bin/python $(BUILD) -n $(JOBS)

# FUZZ holds options of cupy_fuzz.
fuzz-python: python
	@$(VENV)/bin/python scripts/cupy_fuzz $(FUZZ)

# ABI3 names a Python 3.12 or later if none is in PATH.
wheel:
	@scripts/setup --with-python
	@scripts/make_wheel $(PYTHON) $(ABI3)

test-wheel:
	@scripts/test_wheel $(PYTHON) $(ABI3)

# An interpreter that has the package, for its docstrings; where none has, `make python` builds one.
DOCS := build/docs
docs_python = $(firstword $(foreach venv,build/install/venv $(VENV),$(if $(wildcard $(venv)/lib/python*/site-packages/catenary/_core*.so),$(venv)/bin/python)))
docs:
	@scripts/setup --with-docs
	@[ -n "$(docs_python)" ] || $(MAKE) --no-print-directory python
	@[ -x $(DOCS)/venv/bin/python ] || $(PYTHON) -m venv $(DOCS)/venv
	@[ $(DOCS)/requirements -nt docs/requirements.txt ] || \
	  { $(DOCS)/venv/bin/pip install --quiet --disable-pip-version-check -r docs/requirements.txt && touch $(DOCS)/requirements; }
	@$(DOCS)/venv/bin/python scripts/make_docs $(DOCS) $(or $(docs_python),$(VENV)/bin/python)

test-docs: docs
	@$(DOCS)/venv/bin/python scripts/test_docs $(DOCS)/html

format:
	@scripts/setup --with-dev
	git ls-files '*.h' '*.cpp' | xargs clang-format -i

tidy:
	@scripts/setup --with-dev
	@cmake --preset release -B build/tidy -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCATENARY_UNITY=OFF # clang-tidy cannot read GCC's precompiled headers
	@scripts/tidy build/tidy

install: programs
	cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build dist
