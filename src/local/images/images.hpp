// The images of one node: which layers lie there, and how long a pull takes.
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

// What a registry would know of an image.
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

// "busybox" is "docker.io/library/busybox:latest"; a digest wins over a tag. "" for what is no name
// of an image.
std::string normalise_image(std::string_view name);

enum class PullPolicy { always, if_not_present, never };

// What happened when an image was asked for, for the pod's events.
struct Pulled {
  std::shared_ptr<const Image> image;
  bool was_present = false;    // nothing had to be moved
  std::int64_t bytes = 0;      // moved by this pull
  Nanos took{0};               // from the pull's start
  Nanos took_with_waiting{0};  // also behind the pulls of others
};

// Belongs to the node's loop. Layers are shared between images and moved only once.
class NodeImages {
 public:
  virtual ~NodeImages() = default;
  // `started` is called when bytes begin to move or a registry is asked, so not for what is present
  // already. Code::not_found: the catalog refuses the name; Code::forbidden: policy never and not
  // there; Code::invalid: it is no name of an image.
  virtual Task<Result<Pulled>> ensure(std::string name, PullPolicy policy,
                                      std::function<void()> started) = 0;
  virtual Result<void> load(std::string name) = 0;    // there at once, without pulling
  virtual Result<void> remove(std::string name) = 0;  // layers nobody else needs go with it
  virtual std::vector<std::shared_ptr<const Image>> list() const = 0;  // largest first
  // Called after every change, so that the node can report it; in place of the callback before,
  // whose owner may be gone. An empty one is never called.
  virtual void on_change(std::function<void()> callback) = 0;

  // A layer that is being moved.
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
// The catalog's built-in images are there from the start.
std::unique_ptr<NodeImages> make_node_images(Executor loop, Clock& clock,
                                             std::shared_ptr<const ImageCatalog> catalog,
                                             PullOptions options = {});

// For a node's status.images: names by digest, then by tag, at most five; largest first, at most
// `limit` images, all with a limit below zero.
json::array images_status(const std::vector<std::shared_ptr<const Image>>& images, int limit = 50);

}  // namespace plim::local::images
