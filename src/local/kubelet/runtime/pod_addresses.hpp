// The addresses of a node and its pods. All are in 127/8, which needs no setup on Linux.
#pragma once

#include <optional>
#include <set>
#include <string>

namespace plim::local::kubelet {

// Node i has 127.32.i.1, its pods 127.32.i.2 and up. After 254 nodes the second part increases.
class PodAddresses {
 public:
  explicit PodAddresses(int node);

  const std::string& node() const { return node_; }

  // The next free address. It goes through the whole range first, so that a new pod does not get an
  // address that clients of an earlier pod still use. Empty: none is free.
  std::string take();
  void reserve(const std::string& address);  // of an existing pod
  void release(const std::string& address);

 private:
  std::string prefix_, node_;
  std::set<std::string> taken_;
  int last_ = 1;
};

}  // namespace plim::local::kubelet
