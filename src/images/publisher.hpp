// Where an inventory is published.
#pragma once

#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/etcd.hpp"
#include "loop/image_inventory.hpp"

namespace plim::images {

// Belongs to one loop; one publish() runs at a time.
class Publisher {
 public:
  virtual ~Publisher() = default;
  virtual std::string_view name() const = 0;
  virtual Nanos shortest_gap() const = 0;  // between two writes
  virtual Task<Result<void>> publish(loop::ImageInventory inventory) = 0;
};

extern const kube::Resource kNodeImageInventories;

// Writes the NodeImageInventory of the node. The node owns it, if we can find out its UID.
std::unique_ptr<Publisher> publish_to_resource(std::shared_ptr<kube::Client> client,
                                               std::string node);
// Writes the annotation plimsoll.io/images of the Node: only names, at most once a minute, and the
// time, which is updated even if nothing changes.
std::unique_ptr<Publisher> publish_to_annotation(std::shared_ptr<kube::Client> client,
                                                 std::string node);

struct EtcdPlace {
  std::string cluster = "default";  // several clusters may share an etcd
  std::string node;
  std::chrono::seconds lease{900};
};

// Writes the node's key in an etcd, which expires with its lease, and the sizes of layers.
std::unique_ptr<Publisher> publish_to_etcd(std::shared_ptr<kube::EtcdClient> client,
                                           EtcdPlace place);

// The UID of the node that a pod's token is bound to, if it is this node; "" if the token does not
// contain it. Does not verify the token: the server does that.
std::string node_uid_in_token(std::string_view token, std::string_view node);

}  // namespace plim::images
