# What can be made: `make help`.

SWIFT ?= swift
CONFIGURATION ?= release
BUILD = $(SWIFT) build -c $(CONFIGURATION)
TEST = $(SWIFT) test -c $(CONFIGURATION) --skip-build
# For tests of real time: what failed is run once more, by itself, and named.
TRY = Tools/retry.py $(TEST)
# The root's own test targets, which need peers from outside (Tools/manifest/root.json), as a regular expression.
INTEGRATION = ^($(shell Tools/manifest/generate.py --integration | paste -sd '|'))\.
# Of these, the ones that wait more than they compute.
BESIDE = ^InteropTests\.Interop(Paths|Resilience)/
# And the ones that want most of the cores idle.
QUIET = ^InteropTests\.Interop(Narrow|Quiet)/
# Tests with sockets and limits of real time. They run by themselves, after all that computes or blocks its thread, and eight at a time:
# were all begun at once, each would wait for a thread for longer than peers wait for it. The others are sixteen at a time, for those of
# them that start a program.
LIVE = ^(Sora(Signaling|TURNStream|SDK)Tests|RelayTests)\.|^WindowTests\.(?!Portal|MissingPortal)|^CommandTests\.(View|Serve|ServeOperation|ServeReload|ServedCall|FullDisk|KilledRecording|Doctor|Message|PlayRecord|APIRecording|PinOption|ProxyOption|Sound|Film|Undecodable)Tests|^SoraAudioDevicesTests\.(StandIn|Pulse|Pull)|^SoraRecordingTests\.PlayerTests|^SoraTransportTests\.Loop|^SoraServerTests\.(API|SessionAPI|SpotlightAPI|FilterAPI|PushAPI|StatisticsAPI|RealServer|TURNService|TURNSecret|TLSReload|Token|GrantOffer|AuthWebhook|EventWebhook|EventPayload|RealDrain|WHIP|RedisStore|ClusterServer|ClusterPush)|^WebRTCTests\.(?!Core|LossyCodec|BrowserOffer|LipSync|PerfectNegotiation)
# And those that do nothing but encode, for a minute, on every thread that there is.
ENCODING = ^SoraCodecsTests\.AllocationTests
# And those that hold their thread while a desktop's programs start, twenty times.
PORTAL = ^WindowTests\.(Missing)?PortalTests
# And those that say within which time people are elsewhere.
CLUSTER = ^CommandTests\.ServedClusterTests
# With whom `make channels-gigabyte` does, as a regular expression.
CHANNEL_PEERS = Chromium|Firefox|Aiortc|GStreamer|OfficialSDK
SWIFT_SOURCES = Package.swift $(wildcard Packages Tools Tests Benchmarks Docs/Examples)
PREFIX ?= /usr/local
DOCS = .build/docs

.DEFAULT_GOAL := help
.PHONY: help deps demo build check test api samples test-unit test-devices test-interop test-peers test-calls test-packages test-alone samples-and-devices idle-samples endurance channels-gigabyte guard metrics \
	fuzz sanitize bench bench-codecs bench-packets bench-forwarding bench-data bench-links bench-realtime bench-sound audio-quality scorecard bench-short short-benches short-calls short-work manifest manifest-check \
	install package format lint docs clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install the Debian packages that are missing (debian-packages.txt)
	@Tools/deps.sh

demo: deps ## Publish, serve and play a call on this machine, and show how good it is
	@Tools/demo.sh

build: ## Build everything, tests included, once and optimized
	$(BUILD) --build-tests

check: ## Check what changed since main in debug builds: guards, lint, the tests it touches (minutes; Tools/check.py)
	@Tools/check.py $(CHECK_OPTIONS)

test: guard build api test-unit samples-and-devices test-interop ## Run the guards, the samples, the unit tests and those with drivers and peers

api: ## Compare what the SDK declares public with the iOS SDK's names (after `make build`)
	@Tools/api/coverage.py $(CONFIGURATION)

samples: ## Compile the documentation's Swift blocks and examples, and run its programs and commands (after `make build`; SAMPLES=README.md)
	@Tools/samples/samples.py $(SAMPLES)

test-unit: ## Run the packages' own tests (after `make build`)
	$(TEST) --experimental-maximum-parallelization-width 16 --skip '$(INTEGRATION)' --skip '$(LIVE)' --skip '$(PORTAL)' --skip '$(CLUSTER)' --skip '$(ENCODING)'
	$(TEST) --filter '$(ENCODING)'
	$(TRY) --experimental-maximum-parallelization-width 8 --filter '$(LIVE)'
	$(TRY) --filter '$(PORTAL)'
	$(TRY) --filter '$(CLUSTER)'

# Two rows of those that compare no times first, beside each other; then likewise the calls, twice. DONE names what needn't be run again.
test-interop: $(filter-out $(DONE),test-peers test-calls) ## Run the tests with real peers (after `make build`)

test-peers: ## Of them, those that compare no times
	$(TRY) --filter '$(BESIDE)'

test-calls: ## Of them, the others: calls
	$(TRY) --filter '$(QUIET)'
	$(TRY) --filter '$(INTEGRATION)' --skip '^DeviceTests\.' --skip '$(BESIDE)' --skip '$(QUIET)'

test-devices: ## Run the tests with real drivers, in a small virtual machine (after `make build`)
	$(TRY) --filter '^DeviceTests\.'

# The guest has one processor, and must be in time; what compiles has what that leaves of the others.
samples-and-devices:
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-devices idle-samples

idle-samples:
	@chrt --idle 0 $(MAKE) --no-print-directory samples

# One scratch folder for all, so that what they share is built once.
test-packages: ## Build each package alone, from its own manifest (PACKAGES=Packages/SoraView)
	@set -e; for package in $${PACKAGES:-$$(Tools/manifest/generate.py --packages)}; do \
	  echo "== $$package"; \
	  $(SWIFT) build --package-path $$package --scratch-path .build/packages; \
	done

endurance: ## Have 50 clients come and go on a real server for 20 minutes, and compare what is held (after `make build`; SORA_ENDURANCE_SECONDS)
	SORA_ENDURANCE_SECONDS=$${SORA_ENDURANCE_SECONDS:-1200} $(TEST) --filter '^SoraServerTests\.RealServerEndurance'

channels-gigabyte: ## Send a gigabyte each way over data channels with each other peer, checksums compared (after `make build`; CHANNEL_BYTES, CHANNEL_PEERS=Chromium)
	CHANNEL_BYTES=$${CHANNEL_BYTES:-1073741824} $(TEST) --filter '^InteropTests\.InteropPaths/DataChannels/with($(CHANNEL_PEERS))'

test-alone: ## Build single products in fresh packages, the other codecs' libraries hidden
	@Tools/alone.sh

guard: manifest-check ## Check the manifest, sans-I/O code, the arrows between modules and files, and unsafe code
	@Tools/guard-sans-io.py --self-test
	@Tools/guard-sans-io.py
	@Tools/graph.py --self-test
	@Tools/graph.py
	@Tools/guard-unsafe.py --self-test
	@Tools/guard-unsafe.py
	@Tools/metrics.py --self-test
	@Tools/check.py --self-test
	@Tools/man.py --self-test
	@Tools/retry.py --self-test
	@Tools/api/coverage.py --self-test
	@Tools/guard-targets.py
	@Tools/samples/samples.py --self-test
	@Tools/guard-version.py --self-test
	@Tools/guard-version.py

metrics: ## Print figures of the sources: sizes, circles, unsafe lines, duplicates (METRICS_OPTIONS="--at main")
	@Tools/metrics.py $(METRICS_OPTIONS)

fuzz: ## Give each fuzz target a few seconds (FUZZ_SECONDS); see Tests/Fuzz/README.md
	@Tests/Fuzz/run.sh

sanitize: ## Run unit tests under the address and the thread sanitizer (minutes; SANITIZE_PACKAGES narrows it)
	@Tools/sanitize.sh

bench: ## Measure this SDK beside others
	@Benchmarks/run.sh

bench-codecs: ## Measure the codec modules beside their libraries' own tools (CODEC_OPTIONS narrows it)
	@Benchmarks/codecs.py $(CODEC_OPTIONS)

# Products of the root's manifest: what `make build` has built isn't built again (Tools/product.sh).
bench-packets: ## Measure a packet beside a bare C loop, DTLS beside libssl, connecting beside aiortc, and idle connections
	@set -e; for bench in PacketBench HandshakeBench ConnectionBench; do \
	  Tools/product.sh $$bench; \
	  .build/release/$$bench; \
	done
	@Benchmarks/connecting.sh

bench-forwarding: ## Measure what the server forwards beside a bare C loop, and 1,000 idle connections (FORWARDING_SECONDS)
	@Tools/product.sh ForwardingBench
	@.build/release/ForwardingBench

bench-data: ## Measure SCTP beside usrsctp, and data channels beside Chromium's and aiortc's (DATA_MEGABYTES, CHANNEL_SECONDS, CHANNEL_DELAYS)
	@Tools/product.sh DataBench
	@.build/release/DataBench
	@Benchmarks/Data/channels.sh

bench-links: ## Measure calls over bad links, ours to ours, the official SDK to itself, Chromium to itself (LINK_SECONDS, LINK_KBPS, LINK_CASES, LINK_SIDES)
	@Benchmarks/Links/links.sh

bench-realtime: ## Publish and play each codec at default settings, and show whether this machine keeps up
	@Benchmarks/realtime.sh

bench-sound: ## Measure from mouth to ear beside the official SDK, and count buffers that run empty (SOUND_SECONDS)
	@Benchmarks/sound.sh

audio-quality: ## Score speech over bad networks beside libwebrtc, Chromium and aiortc, fed the same packets (Docs/audio-quality.md)
	@Benchmarks/audio_quality.sh

scorecard: ## Score congestion control in virtual time: our goals, RFC 8867, RFC 8869 (SCORECARD_FILE=Docs/congestion.md writes it)
	@Tools/product.sh Scorecard
	@.build/release/Scorecard

# Figures of so short a run mean nothing, so that two may run at a time. What it is for: that each of them still builds, starts and
# ends well.
bench-short: ## Run every benchmark for some seconds, as CI does
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target short-benches

short-benches: short-calls short-work

# They wait for time to pass, mostly.
short-calls:
	BENCH_SECONDS=2 BENCH_WARMUP=1 BENCH_ROUNDS=1 $(MAKE) --no-print-directory bench
	REALTIME_SECONDS=2 REALTIME_WARMUP=1 $(MAKE) --no-print-directory bench-realtime
	LINK_SECONDS=3 LINK_WARMUP=1 LINK_KBPS=1500 LINK_CASES="1 % lost" $(MAKE) --no-print-directory bench-links
	LINK_SECONDS=3 LINK_WARMUP=1 LINK_MAKES=Chromium:ours,ours:prompt LINK_SIDES=player,both LINK_CASES="3, 0.7, 3 Mbit/s" $(MAKE) --no-print-directory bench-links
	SOUND_SECONDS=8 SOUND_PEERS=ours $(MAKE) --no-print-directory bench-sound

# They compute, mostly.
short-work:
	BENCH_ROUNDS=1 CONNECTIONS=3 $(MAKE) --no-print-directory bench-packets
	FORWARDING_SECONDS=1 FORWARDING_SUBSCRIBERS="10 50" FORWARDING_IDLE=100 $(MAKE) --no-print-directory bench-forwarding
	BENCH_ROUNDS=1 DATA_MEGABYTES=8 DATA_SECONDS=1 CHANNEL_SECONDS=1 $(MAKE) --no-print-directory bench-data
	CHANNEL_BYTES=16777216 $(MAKE) --no-print-directory channels-gigabyte CHANNEL_PEERS=OfficialSDK
	SCORECARD_SHORT=1 $(MAKE) --no-print-directory scorecard
	AUDIO_POINTS=short AUDIO_SEGMENTS=1 AUDIO_PEERS=virtual,ours,official $(MAKE) --no-print-directory audio-quality
	$(MAKE) --no-print-directory bench-codecs CODEC_OPTIONS="--sizes 360p --scenes text --frames 10 --rounds 1"
	$(MAKE) --no-print-directory bench-codecs CODEC_OPTIONS="--speeds --sizes 360p --scenes text --frames 10 --rounds 1"

manifest: ## Write the root's Package.swift from the packages' manifests
	@Tools/manifest/generate.py

manifest-check:
	@Tools/manifest/generate.py --check

# Completion scripts go where bash (bash-completion), zsh and fish look; packagers set DESTDIR.
install: ## Install `sora`, its manual pages and completion for bash, zsh and fish in PREFIX (/usr/local)
	@SWIFT="$(SWIFT)" Tools/install.sh "$(DESTDIR)$(PREFIX)"

# Debian's codec libraries are Recommends: what only forwards needs none.
package: ## Make a Debian package with a systemd unit in .build/package, and check it (Docs/operations.md)
	@SWIFT="$(SWIFT)" CONFIGURATION="$(CONFIGURATION)" Tools/package/package.sh .build/package > .build/package.name
	@Tools/package/check.sh "$$(cat .build/package.name)"

format: ## Format the Swift sources
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_SOURCES)

lint: ## Report Swift sources that aren't formatted
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)

# From what is built: nothing is compiled a second time. Every warning is an error.
docs: ## Write the API's documentation to .build/docs, and compile its samples (DOCUMENTED=SoraMedia for that module alone)
	@[ -n "$$SORA_IS_BUILT" ] || $(SWIFT) build -c release
	@Tools/docs.py $(DOCS) $(DOCUMENTED)

clean: ## Remove what was built
	rm -rf .build Packages/*/.build demo
