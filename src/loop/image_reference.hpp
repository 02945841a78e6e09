// Image names in canonical form, so that the images of a pod and of a runtime can be compared:
// "busybox" and "index.docker.io/library/busybox:latest" are the same image.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace plim::loop {

// A parsed `[registry/]repository[:tag][@digest]`. The first component is a registry only if it has
// a '.' or ':' or is "localhost". Otherwise the registry is docker.io, where a repository of one
// component is in library/. Without tag and digest the tag is latest.
struct ImageReference {
  std::string registry;    // lower case: "docker.io", "reg:5000"
  std::string repository;  // "library/busybox"
  std::string tag;         // empty only if there is a digest
  std::string digest;      // "sha256:…", may be empty

  static Result<ImageReference> parse(std::string_view text);

  std::string name() const;  // "docker.io/library/busybox"
  // The keys for storing and looking up an image; empty if tag or digest is missing.
  std::string tagged() const;  // "docker.io/library/busybox:latest"
  std::string pinned() const;  // "docker.io/library/busybox@sha256:…"
  std::string to_string() const;

  bool operator==(const ImageReference&) const = default;
};

// "algorithm:hex", the form of IDs and layers of images.
bool is_image_digest(std::string_view text);

// An image ID as containerd writes it: without an algorithm it is SHA-256. Anything else is
// returned unchanged.
std::string canonical_image_id(std::string_view id);

}  // namespace plim::loop
