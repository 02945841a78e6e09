#include "pools/kubelet_records.hpp"

#include "base/files.hpp"
#include "base/json.hpp"

namespace plim::pools {
namespace {

using namespace std::chrono_literals;

constexpr auto kListLimit = 5s;

net::RpcLimits list_limits() {
  net::RpcLimits out;
  out.max_message = 64u << 20;  // shared pools have thousands of devices
  return out;
}

}  // namespace

KubeletRecords::KubeletRecords(const Executor& loop, std::string kubelet_dir)
    : directory_(std::move(kubelet_dir)),
      channel_(net::Channel::unix_socket(loop, directory_ + "/pod-resources/kubelet.sock",
                                         list_limits())) {}

Task<Result<KubeletAnswer>> KubeletRecords::look() {
  KubeletAnswer out;
  const net::RpcReply reply =
      co_await channel_->call("/v1.PodResourcesLister/List", "", kListLimit);
  Result<std::vector<node::HeldDevices>> asked =
      reply.status.ok() ? node::decode_pod_resources(reply.body)
                        : Result<std::vector<node::HeldDevices>>(reply.status.to_error());
  auto text = read_file(directory_ + "/device-plugins/kubelet_internal_checkpoint");
  Result<std::vector<node::HeldDevices>> stored =
      text ? node::parse_device_checkpoint(*text)
           : Result<std::vector<node::HeldDevices>>(text.error());
  if (!asked && !stored) co_return asked.error();
  if (asked) out.asked = std::move(*asked);
  if (stored) out.stored = std::move(*stored);
  co_return out;
}

Task<std::string> KubeletRecords::cpu_manager_policy() {
  if (auto text = read_file(directory_ + "/cpu_manager_state"))
    if (auto state = parse_json(*text)) co_return std::string(text_at(*state, {"policyName"}));
  const net::RpcReply reply =
      co_await channel_->call("/v1.PodResourcesLister/GetAllocatableResources", "", kListLimit);
  if (!reply.status.ok()) co_return "";
  const auto cpus = node::decode_allocatable_cpus(reply.body);
  co_return !cpus ? "" : cpus->empty() ? "none" : "static";
}

}  // namespace plim::pools
