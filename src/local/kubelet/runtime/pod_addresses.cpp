#include "local/kubelet/runtime/pod_addresses.hpp"

#include <fmt/format.h>

namespace plim::local::kubelet {

namespace {

constexpr int kFirstBlock = 32, kNodesPerBlock = 254, kLastPod = 254;

}  // namespace

PodAddresses::PodAddresses(int node)
    : prefix_(fmt::format("127.{}.{}.", kFirstBlock + (node - 1) / kNodesPerBlock,
                          (node - 1) % kNodesPerBlock + 1)),
      node_(prefix_ + "1") {}

std::string PodAddresses::take() {
  for (int tried = 0; tried < kLastPod; ++tried) {
    last_ = last_ >= kLastPod ? 2 : last_ + 1;
    std::string address = prefix_ + std::to_string(last_);
    if (taken_.insert(address).second) return address;
  }
  return {};
}

void PodAddresses::reserve(const std::string& address) {
  taken_.insert(address);
}

void PodAddresses::release(const std::string& address) {
  taken_.erase(address);
}

}  // namespace plim::local::kubelet
