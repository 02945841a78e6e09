// A node's images as messages of the container runtime interface and of containerd's content
// store.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "local/images/images.hpp"

namespace plim::local::kubelet {

using ImageList = std::vector<std::shared_ptr<const images::Image>>;

struct ImageQuestion {
  std::string name;  // tag, digest or id; "" for all
  bool verbose = false;
};

Result<ImageQuestion> decode_list_images_request(const std::string& bytes);
Result<ImageQuestion> decode_image_status_request(const std::string& bytes);
std::string encode_version(const std::string& runtime_version);
// An event of containerd: the images have changed.
std::string encode_image_event(WallTime now);
std::string encode_list_images(const ImageList& images, const ImageQuestion& question);
std::string encode_image_status(const ImageList& images, const ImageQuestion& question);
std::string encode_image_fs(const ImageList& images, const std::string& mountpoint, WallTime now);
// Manifests (their labels name the layers), configurations and layers.
std::string encode_content_list(const ImageList& images);
std::string encode_content_statuses(const std::vector<images::NodeImages::Moving>& moving,
                                    WallTime now);

// The client's side, for tests: "id tags|digests size" for each image, "digest size
// label=value…" for each blob, "ref offset/total" for each pull.
Result<std::vector<std::string>> describe_images(const std::string& list_images_response);
Result<std::vector<std::string>> describe_content(const std::string& list_content_response);
Result<std::vector<std::string>> describe_statuses(const std::string& list_statuses_response);
std::string encode_image_status_request(const ImageQuestion& question);
Result<std::string> describe_image_status(const std::string& image_status_response);

}  // namespace plim::local::kubelet
