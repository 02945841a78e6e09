// Names of images in one spelling, so that what a pod asks for and what a runtime holds can be
// compared: "busybox" and "index.docker.io/library/busybox:latest" are the same image.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace plim::loop {

// A parsed `[registry/]repository[:tag][@digest]`. The first component is a registry only when it
// has a '.' or ':' or is "localhost", otherwise the registry is docker.io, where a repository of
// one component lies in library/. Without tag and digest the tag is latest.
struct ImageReference {
  std::string registry;    // lower case: "docker.io", "reg:5000"
  std::string repository;  // "library/busybox"
  std::string tag;         // empty only when there is a digest
  std::string digest;      // "sha256:…", empty for a name alone

  static Result<ImageReference> parse(std::string_view text);

  std::string name() const;  // "docker.io/library/busybox"
  // The keys an image is stored and looked up by; empty when that half is missing.
  std::string tagged() const;  // "docker.io/library/busybox:latest"
  std::string pinned() const;  // "docker.io/library/busybox@sha256:…"
  std::string to_string() const;

  bool operator==(const ImageReference&) const = default;
};

// "algorithm:hex", as the ids and layers of images are called.
bool is_image_digest(std::string_view text);

// An image id as containerd writes it: runtimes that leave the algorithm out mean SHA-256. Anything
// else is returned as it is.
std::string canonical_image_id(std::string_view id);

}  // namespace plim::loop
