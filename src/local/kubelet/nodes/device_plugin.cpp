#include "local/kubelet/nodes/device_plugin.hpp"

#include <fmt/format.h>

namespace plim::local::kubelet {
namespace {

constexpr Nanos kDialPatience = std::chrono::seconds(10);
constexpr Nanos kDialPause = std::chrono::milliseconds(50);
constexpr auto kCallLimit = std::chrono::seconds(30);  // PreStartContainer may reset hardware

}  // namespace

Task<Error> DevicePlugin::follow(std::function<void(std::vector<Device>)> report) {
  const SteadyTime patience = clock_.steady() + kDialPatience;
  for (;;) {
    net::RpcReply reply =
        co_await channel_->call("/v1beta1.DevicePlugin/GetDevicePluginOptions", "", kCallLimit);
    if (reply.status.ok()) {
      if (auto told = node::decode_plugin_options(reply.body)) options_ = *told;
      break;
    }
    if (reply.status.code == net::RpcCode::unimplemented) break;  // keeps its registered ones
    if (clock_.steady() >= patience) co_return reply.status.to_error();
    co_await clock_.sleep(kDialPause);
  }
  auto stream = co_await channel_->open("/v1beta1.DevicePlugin/ListAndWatch", "", net::kNoDeadline);
  for (std::string message;;) {
    const bool more = co_await stream->next(message);
    if (!more) break;
    auto devices = node::decode_devices(message);
    if (!devices) co_return devices.error();
    report(std::move(*devices));
  }
  if (stream->status().ok())
    co_return fail(Code::unavailable, "the plugin ended its list of devices");
  co_return stream->status().to_error();
}

Task<Result<std::string>> DevicePlugin::call(std::string method, std::string request) {
  std::string path = fmt::format("/v1beta1.DevicePlugin/{}", method);
  net::RpcReply reply = co_await channel_->call(std::move(path), std::move(request), kCallLimit);
  if (!reply.status.ok()) co_return reply.status.to_error().with_context(method);
  co_return std::move(reply.body);
}

Task<Result<DeviceIds>> DevicePlugin::prefer(PreferredRequest request) {
  PLIM_CO_TRY(std::string body,
              co_await call("GetPreferredAllocation", node::encode_preferred_request(request)));
  co_return node::decode_preferred(body);
}

Task<Result<std::string>> DevicePlugin::allocate(DeviceIds ids) {
  PLIM_CO_TRY(std::string body, co_await call("Allocate", node::encode_allocate_request(ids)));
  co_return node::decode_allocate(body);
}

Task<Result<void>> DevicePlugin::pre_start(DeviceIds ids) {
  PLIM_CO_TRY(std::string body, co_await call("PreStartContainer", node::encode_pre_start(ids)));
  co_return Result<void>();
}

}  // namespace plim::local::kubelet
