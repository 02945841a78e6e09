// Looks at a runtime's images again and again and remembers what it saw. Belongs to one loop.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "images/assemble.hpp"
#include "images/runtime.hpp"
#include "loop/image_inventory.hpp"

namespace plim::images {

class Collector {
 public:
  explicit Collector(Runtime& runtime);

  struct Look {
    bool changed = false;  // other images, or other pulls
    bool pulling = false;
  };

  // Asks once. Layers are asked for only of images that were not there before, or whose layers the
  // runtime could not tell. After a failure what was seen stays, and the runtime is asked who it is
  // again.
  Task<Result<Look>> look();

  // How full the images' file system is; a runtime that does not tell is none of our problems.
  Task<void> look_at_filesystem();

  // As of the last look; generation and time are the caller's.
  const loop::ImageInventory& inventory() const { return inventory_; }

 private:
  // These say whether all was learnt that there is to learn; if not, the next look tries again.
  Task<bool> learn_layers(std::vector<loop::ImageInventory::Image> images);
  Task<bool> learn_from_content(std::set<std::string>* wanted);
  Task<bool> learn_from_configurations(const std::vector<loop::ImageInventory::Image>* images,
                                       const std::set<std::string>* wanted);
  Task<Result<std::vector<loop::ImageInventory::Pull>>> look_at_pulls();
  void measure_bandwidth(const std::vector<Ingest>& ingests);

  Runtime& runtime_;
  std::string name_;         // of the runtime; "": ask
  bool has_content_ = true;  // until the runtime says otherwise
  bool seen_ = false, learnt_ = true;
  std::vector<loop::ImageInventory::Image> images_;  // without layers
  LayersById layers_;
  std::map<std::string, Ingest> writing_;  // at the last look
  loop::ImageInventory inventory_;
};

}  // namespace plim::images
