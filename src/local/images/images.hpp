// The images of one node: which layers it has, and how long a pull takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace plim::local::images {

struct Layer {
  std::string digest;  // "sha256:…"
  std::int64_t bytes = 0;

  bool operator==(const Layer&) const = default;
};

// An image as a registry describes it.
struct Image {
  std::string name;    // normalised: "docker.io/library/busybox:1.36"
  std::string digest;  // "sha256:…" of its manifest
  std::vector<Layer> layers;
  std::vector<std::string> entrypoint = {};
  std::vector<std::string> command = {};
  std::vector<std::pair<std::string, std::string>> env = {};
  std::string working_dir = {};
  std::string stop_signal = {};  // "" for SIGTERM
  std::string rootfs = {};       // directory, "" for none

  std::int64_t bytes() const;
};

// "busybox" is "docker.io/library/busybox:latest"; a digest takes precedence over a tag. "" for
// invalid names.
std::string normalise_image(std::string_view name);

enum class PullPolicy { always, if_not_present, never };

// The result of a pull, for the events of the pod.
struct Pulled {
  std::shared_ptr<const Image> image;
  bool was_present = false;    // nothing had to be transferred
  std::int64_t bytes = 0;      // transferred by this pull
  Nanos took{0};               // since the start of the pull
  Nanos took_with_waiting{0};  // including the time in the queue
};

// Belongs to the node's loop. Images share layers; each layer is transferred only once.
class NodeImages {
 public:
  virtual ~NodeImages() = default;
  // `started` is called when a transfer or a request to a registry begins, so not for an image that
  // is present. Code::not_found: the catalog has no such image; Code::forbidden: policy never, and
  // the image is not present; Code::invalid: not a valid image name.
  virtual Task<Result<Pulled>> ensure(std::string name, PullPolicy policy,
                                      std::function<void()> started) = 0;
  virtual Result<void> load(std::string name) = 0;    // present at once, without a pull
  virtual Result<void> remove(std::string name) = 0;  // with layers that no other image needs
  virtual std::vector<std::shared_ptr<const Image>> list() const = 0;  // largest first
  // Called after every change, so that the node can report it. Replaces the previous callback; an
  // empty one is not called.
  virtual void on_change(std::function<void()> callback) = 0;

  // Waits until the images have changed since the call that returned `seen`; 0 at first. For
  // several readers at once.
  virtual Task<std::uint64_t> changed_since(std::uint64_t seen) const = 0;

  // A layer that is being transferred.
  struct Moving {
    Layer layer;
    std::int64_t moved = 0;
    WallTime started = {};
  };

  virtual std::vector<Moving> moving() const { return {}; }
};

struct PullOptions {
  double bytes_per_second = 100e6;  // of the node, shared by its pulls
  Nanos per_layer = std::chrono::milliseconds(20);
  double speedup = 1;
  std::size_t at_once = 1;  // further pulls wait, as in a kubelet
};

class ImageCatalog;
// The built-in images of the catalog are present from the start.
std::unique_ptr<NodeImages> make_node_images(Executor loop, Clock& clock,
                                             std::shared_ptr<const ImageCatalog> catalog,
                                             PullOptions options = {});

// For status.images of a node: at most five names per image, digest first, then tags; largest image
// first, at most `limit` images, or all if the limit is negative.
json::array images_status(const std::vector<std::shared_ptr<const Image>>& images, int limit = 50);

}  // namespace plim::local::images
