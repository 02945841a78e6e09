// What CSI drivers say about themselves, about nodes and about free storage.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "placement/label_texts.hpp"
#include "placement/storage_objects.hpp"

namespace plim::placement {

// Belongs to one thread.
class CsiTable {
 public:
  void set_driver(const CsiDriver& driver);
  void remove_driver(std::string_view name);
  void set_node(const CsiNode& node);
  void remove_node(std::string_view name);
  void set_capacity(const StorageCapacity& capacity);
  void remove_capacity(const StorageCapacity& capacity);
  void set_attachment(const VolumeAttachment& attachment);
  void remove_attachment(const VolumeAttachment& attachment);

  const CsiDriver* driver(std::string_view name) const;
  const CsiNode* node(std::string_view name) const;
  std::span<const StorageCapacity> capacities_of_class(std::string_view name) const;
  std::span<const VolumeAttachment> attachments_on(std::string_view node) const;

 private:
  TextMap<CsiDriver> drivers_;
  TextMap<CsiNode> nodes_;
  TextMap<std::vector<StorageCapacity>> capacities_;    // by class
  TextMap<std::string> class_of_capacity_;              // by the key of the object
  TextMap<std::vector<VolumeAttachment>> attachments_;  // by node
};

}  // namespace plim::placement
