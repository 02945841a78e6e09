// Which images a registry would have, and of what they are made.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "local/images/images.hpp"

namespace plim::local::images {

enum class ImagePolicy {
  any,     // names that are not in the catalog mean three layers of 100 MB together
  strict,  // … are not found
};

// Immutable once made, so nodes on any loop share it. A file of images:
//
//   images:
//     registry.example/app:1:
//       layers:
//       - {digest: base, size: 700M}     # a digest that is none is hashed: name it as you like
//       - {digest: app-1, size: 100M}
//       config: {entrypoint: [/bin/app], cmd: [--fast], env: {A: b}}  # workingDir, stopSignal
//       rootfs: /srv/app
//       bandwidth: 10M                   # bytes per second that its registry gives
//       nodes: [n1, "sim-*"]             # where it lies from the start
class ImageCatalog {
 public:
  struct Options {
    ImagePolicy policy = ImagePolicy::any;
    std::string program;  // our own binary: what the built-in images run
    std::string version;  // of plimsoll:<version>
  };

  explicit ImageCatalog(Options options);
  // Adds to what is there; the same name again replaces it.
  Result<void> add_yaml(std::string_view text, std::string_view source);

  struct Found {
    std::shared_ptr<const Image> image;
    double bytes_per_second = 0;  // of its registry; 0: no limit
  };

  // By any spelling of its name, also by digest.
  Result<Found> find(std::string_view name) const;

  // What lies on a node of that name before anybody pulls, beside what is built in.
  std::vector<std::shared_ptr<const Image>> present_on(std::string_view node) const;

  // plimsoll/tools and plimsoll:<version>, which need no pull.
  const std::vector<std::shared_ptr<const Image>>& built_in() const { return built_in_; }

 private:
  void add(Image image, double bytes_per_second);

  Options options_;
  std::map<std::string, Found, std::less<>> by_name_;  // normalised; with and without digest
  std::vector<std::shared_ptr<const Image>> built_in_;
  // By name; patterns in which * stands for anything and ? for one character.
  std::map<std::string, std::vector<std::string>> nodes_;
};

// "docker.io/library/busybox" of "docker.io/library/busybox:1.36".
std::string_view image_repository(std::string_view normalised);

}  // namespace plim::local::images
