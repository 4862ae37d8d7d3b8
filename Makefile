# What can be made: `make help`.

SWIFT ?= swift
CONFIGURATION ?= release
BUILD = $(SWIFT) build -c $(CONFIGURATION)
TEST = $(SWIFT) test -c $(CONFIGURATION) --skip-build
# The root's own test targets, which need peers from outside (Tools/manifest/root.json), as a regular expression.
INTEGRATION = ^($(shell Tools/manifest/generate.py --integration | paste -sd '|'))\.
# Tests with sockets and limits of real time. They run by themselves, after all that computes or blocks its thread.
LIVE = ^(Sora(Signaling|TURNStream|SDK|Server)Tests|RelayTests)\.|^SoraTransportTests\.Loop|^WebRTCTests\.(?!Core|LossyCodec|BrowserOffer)
SWIFT_SOURCES = Package.swift $(wildcard Packages Tools Tests Benchmarks)
DOCUMENTED ?= SoraSDK WebRTC SoraServer SoraSignaling SoraTransport SoraMedia
DOCS = .build/docs

.DEFAULT_GOAL := help
.PHONY: help deps demo build test test-allocations test-unit test-interop test-packages test-alone guard fuzz sanitize \
	bench bench-codecs bench-packets bench-realtime manifest manifest-check format lint docs clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install the Debian packages that are missing (debian-packages.txt)
	@Tools/deps.sh

demo: deps ## Publish, serve and play a call on this machine, and show how good it is
	@Tools/demo.sh

build: ## Build everything, tests included, once and optimized
	$(BUILD) --build-tests

test: guard build test-allocations test-unit test-interop ## Run the guards, the unit tests and the tests with real peers

test-unit: ## Run the packages' own tests (after `make build`)
	$(TEST) --skip '$(INTEGRATION)' --skip '$(LIVE)'
	$(TEST) --filter '$(LIVE)'

# A program of their own: in that of all packages another counter's malloc is linked.
test-allocations: ## Count what the codecs' modules allocate for a frame
	$(SWIFT) test -c release --package-path Packages/SoraCodecs --scratch-path .build/packages --filter 'AllocatesNothing'

test-interop: ## Run the tests with real peers (after `make build`)
	$(TEST) --filter '$(INTEGRATION)'

# One scratch folder for all, so that what they share is built once.
test-packages: ## Build each package alone, from its own manifest
	@set -e; for package in $$(Tools/manifest/generate.py --packages); do \
	  echo "== $$package"; \
	  $(SWIFT) build --package-path $$package --scratch-path .build/packages; \
	done

test-alone: ## Build single products in fresh packages, the other codecs' libraries hidden
	@Tools/alone.sh

guard: manifest-check ## Check that the manifest hasn't drifted and that sans-I/O code does no I/O
	@Tools/guard-sans-io.py --self-test
	@Tools/guard-sans-io.py
	@Tools/guard-version.py --self-test
	@Tools/guard-version.py

fuzz: ## Give each fuzz target a few seconds (FUZZ_SECONDS); see Tests/Fuzz/README.md
	@Tests/Fuzz/run.sh

sanitize: ## Run unit tests under the address and the thread sanitizer (minutes; SANITIZE_PACKAGES narrows it)
	@Tools/sanitize.sh

bench: ## Measure this SDK beside others
	@Benchmarks/run.sh

bench-codecs: ## Measure the codec modules beside their libraries' own tools (CODEC_OPTIONS narrows it)
	@Benchmarks/codecs.py $(CODEC_OPTIONS)

bench-packets: ## Measure a packet beside a bare C loop, connecting beside aiortc, and idle connections
	@$(SWIFT) build -c release --package-path Benchmarks/Packets
	@Benchmarks/Packets/.build/release/PacketBench
	@Benchmarks/Packets/.build/release/ConnectionBench
	@Benchmarks/connecting.sh

bench-realtime: ## Publish and play each codec at default settings, and show whether this machine keeps up
	@Benchmarks/realtime.sh

manifest: ## Write the root's Package.swift from the packages' manifests
	@Tools/manifest/generate.py

manifest-check:
	@Tools/manifest/generate.py --check

format: ## Format the Swift sources
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_SOURCES)

lint: ## Report Swift sources that aren't formatted
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)

docs: ## Write the API's documentation to .build/docs
	$(SWIFT) package --allow-writing-to-directory $(DOCS) generate-documentation \
	  $(addprefix --target ,$(DOCUMENTED)) --enable-experimental-combined-documentation \
	  --transform-for-static-hosting --output-path $(DOCS)

clean: ## Remove what was built
	rm -rf .build Packages/*/.build demo
