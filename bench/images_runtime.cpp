// A runtime with many images, as containerd would tell of them, for bench/images.
// usage: images_runtime SOCKET COUNT, until it is killed.
#include <cstdlib>

#include <fmt/format.h>

#include "base/event.hpp"
#include "base/loop.hpp"
#include "images/testing/fake_runtime.hpp"

namespace {

using namespace plim;

constexpr int kOnOneBase = 20, kBaseLayers = 3, kOwnLayers = 2;

std::string digest(int kind, int number) {
  return fmt::format("sha256:{:08x}{:056x}", kind, number);
}

// Each has a manifest, a configuration and layers, of which the lowest are those of others too.
void add_image(images::testing::FakeRuntime& runtime, int number) {
  images::Blob manifest{
      .digest = digest(1, number), .size = 1200, .config = digest(2, number), .layers = {}};
  std::int64_t size = 0;
  for (int layer = 0; layer < kBaseLayers; ++layer) {
    manifest.layers.push_back(digest(3, number / kOnOneBase * kBaseLayers + layer));
    if (number % kOnOneBase == 0)
      runtime.content.push_back({.digest = manifest.layers.back(), .size = 30'000'000});
    size += 30'000'000;
  }
  for (int layer = 0; layer < kOwnLayers; ++layer) {
    manifest.layers.push_back(digest(4, number * kOwnLayers + layer));
    runtime.content.push_back({.digest = manifest.layers.back(), .size = 5'000'000});
    size += 5'000'000;
  }
  const std::string repository = fmt::format("registry.example/team/application-{}", number);
  runtime.images.push_back({.id = manifest.config,
                            .tags = {repository + ":v1.2.3"},
                            .digests = {repository + "@" + manifest.digest},
                            .size = size});
  runtime.content.push_back(std::move(manifest));
}

Task<int> serve(const char* socket, int count) {
  const Executor loop = co_await current_loop();
  images::testing::FakeRuntime runtime(loop, socket);
  for (int number = 0; number < count; ++number) add_image(runtime, number);
  runtime.start();
  Event never(loop);
  co_await never.wait();
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  Loop loop;
  return loop.run(serve(argv[1], std::atoi(argv[2])));
}
