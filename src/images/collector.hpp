// Reads the images of a runtime repeatedly and caches them. Belongs to one loop.
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

  // Reads once. Reads layers only of new images, or of those whose layers the runtime could not
  // report. After a failure the last state stays, and the next call asks for the runtime's version
  // again.
  Task<Result<Look>> look();

  // Reads how full the file system of the images is; ignores runtimes that do not report it.
  Task<void> look_at_filesystem();

  // As of the last look(); the caller sets generation and time.
  const loop::ImageInventory& inventory() const { return inventory_; }

 private:
  // These return whether everything was read; if not, the next look() tries again.
  Task<bool> learn_layers(std::vector<loop::ImageInventory::Image> images);
  Task<bool> learn_from_content(std::set<std::string>* wanted);
  Task<bool> learn_from_configurations(const std::vector<loop::ImageInventory::Image>* images,
                                       const std::set<std::string>* wanted);
  Task<Result<std::vector<loop::ImageInventory::Pull>>> look_at_pulls();
  void measure_bandwidth(const std::vector<Ingest>& ingests);

  Runtime& runtime_;
  std::string name_;         // of the runtime; "": unknown
  bool has_content_ = true;  // until the runtime denies it
  bool seen_ = false, learnt_ = true;
  std::vector<loop::ImageInventory::Image> images_;  // without layers
  LayersById layers_;
  std::map<std::string, Ingest> writing_;  // as of the last look()
  loop::ImageInventory inventory_;
};

}  // namespace plim::images
