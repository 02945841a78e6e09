// The images that a simulated registry has, with their layers.
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
  any,     // unknown images have three layers of 100 MB in total
  strict,  // unknown images are not found
};

// Immutable, so nodes on any loop share it. A file of images:
//
//   images:
//     registry.example/app:1:
//       layers:
//       - {digest: base, size: 700M}     # any name: if it is not a digest, its hash is used
//       - {digest: app-1, size: 100M}
//       config: {entrypoint: [/bin/app], cmd: [--fast], env: {A: b}}  # workingDir, stopSignal
//       rootfs: /srv/app
//       bandwidth: 10M                   # bytes per second of its registry
//       nodes: [n1, "sim-*"]             # nodes that have it from the start
class ImageCatalog {
 public:
  struct Options {
    ImagePolicy policy = ImagePolicy::any;
    std::string program;  // our own binary, which the built-in images run
    std::string version;  // the tag of plimsoll:<version>
  };

  explicit ImageCatalog(Options options);
  // Adds the images of the file; an image with a known name replaces the old one.
  Result<void> add_yaml(std::string_view text, std::string_view source);

  struct Found {
    std::shared_ptr<const Image> image;
    double bytes_per_second = 0;  // limit of its registry; 0: no limit
  };

  // Accepts any form of the name, also a digest.
  Result<Found> find(std::string_view name) const;

  // The images that a node of that name has from the start, in addition to the built-in ones.
  std::vector<std::shared_ptr<const Image>> present_on(std::string_view node) const;

  // plimsoll/tools and plimsoll:<version>, which are never pulled.
  const std::vector<std::shared_ptr<const Image>>& built_in() const { return built_in_; }

 private:
  void add(Image image, double bytes_per_second);

  Options options_;
  std::map<std::string, Found, std::less<>> by_name_;  // normalised; with and without digest
  std::vector<std::shared_ptr<const Image>> built_in_;
  // Patterns of nodes by image name; * matches any text and ? one character.
  std::map<std::string, std::vector<std::string>> nodes_;
};

// "docker.io/library/busybox" for "docker.io/library/busybox:1.36".
std::string_view image_repository(std::string_view normalised);

}  // namespace plim::local::images
