// The addresses of a node and its pods, all from 127/8, which Linux owns without any set-up.
#pragma once

#include <optional>
#include <set>
#include <string>

namespace plim::local::kubelet {

// Node i has 127.32.i.1, its pods 127.32.i.2 and on; beyond 254 nodes the second part counts up.
class PodAddresses {
 public:
  explicit PodAddresses(int node);

  const std::string& node() const { return node_; }

  // The next free one, round and round, so that a new pod does not get what clients of the last
  // one still use. Empty: none is left.
  std::string take();
  void reserve(const std::string& address);  // of a pod that is there already
  void release(const std::string& address);

 private:
  std::string prefix_, node_;
  std::set<std::string> taken_;
  int last_ = 1;
};

}  // namespace plim::local::kubelet
