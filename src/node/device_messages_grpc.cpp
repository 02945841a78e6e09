#include <algorithm>

#include <fmt/format.h>

#include "device_plugin_v1beta1.pb.h"
#include "node/device_messages.hpp"

namespace plim::node {
namespace {

template <class Message>
Result<Message> parse(const std::string& bytes) {
  Message out;
  if (!out.ParseFromString(bytes))
    return fail(Code::bad_request, fmt::format("malformed {}", Message().GetTypeName()));
  return out;
}

template <class List>
DeviceIds texts(const List& list) {
  return {list.begin(), list.end()};
}

PluginOptions from(const v1beta1::DevicePluginOptions& options) {
  return {.pre_start = options.pre_start_required(),
          .preferred = options.get_preferred_allocation_available()};
}

void fill(v1beta1::DevicePluginOptions& out, const PluginOptions& options) {
  out.set_pre_start_required(options.pre_start);
  out.set_get_preferred_allocation_available(options.preferred);
}

void fill(v1beta1::ContainerAllocateResponse& out, const DeviceGrants& grants) {
  for (const auto& [name, value] : grants.env) (*out.mutable_envs())[name] = value;
  for (const auto& [name, value] : grants.annotations) (*out.mutable_annotations())[name] = value;
  for (const DeviceMount& mount : grants.mounts) {
    auto& added = *out.add_mounts();
    added.set_container_path(mount.container_path);
    added.set_host_path(mount.host_path);
    added.set_read_only(mount.read_only);
  }
  for (const DeviceFile& device : grants.devices) {
    auto& added = *out.add_devices();
    added.set_container_path(device.container_path);
    added.set_host_path(device.host_path);
    added.set_permissions(device.permissions);
  }
  for (const std::string& name : grants.cdi_devices) out.add_cdi_devices()->set_name(name);
}

}  // namespace

Result<PluginRegistration> decode_registration(const std::string& bytes) {
  PLIM_TRY(auto message, parse<v1beta1::RegisterRequest>(bytes));
  return PluginRegistration{.version = message.version(),
                            .endpoint = message.endpoint(),
                            .resource = message.resource_name(),
                            .options = from(message.options())};
}

std::string encode_registration(const PluginRegistration& registration) {
  v1beta1::RegisterRequest out;
  out.set_version(registration.version);
  out.set_endpoint(registration.endpoint);
  out.set_resource_name(registration.resource);
  fill(*out.mutable_options(), registration.options);
  return out.SerializeAsString();
}

Result<PluginOptions> decode_plugin_options(const std::string& bytes) {
  PLIM_TRY(auto message, parse<v1beta1::DevicePluginOptions>(bytes));
  return from(message);
}

std::string encode_plugin_options(const PluginOptions& options) {
  v1beta1::DevicePluginOptions out;
  fill(out, options);
  return out.SerializeAsString();
}

Result<std::vector<Device>> decode_devices(const std::string& bytes) {
  PLIM_TRY(auto message, parse<v1beta1::ListAndWatchResponse>(bytes));
  std::vector<Device> out;
  for (const v1beta1::Device& device : message.devices()) {
    Device& added =
        out.emplace_back(Device{.id = device.id(), .healthy = device.health() == "Healthy"});
    for (const v1beta1::NUMANode& numa : device.topology().nodes())
      added.numa_nodes.push_back(numa.id());
  }
  return out;
}

std::string encode_devices(const std::vector<Device>& devices) {
  v1beta1::ListAndWatchResponse out;
  for (const Device& device : devices) {
    v1beta1::Device& added = *out.add_devices();
    added.set_id(device.id);
    added.set_health(device.healthy ? "Healthy" : "Unhealthy");
    for (std::int64_t numa : device.numa_nodes) added.mutable_topology()->add_nodes()->set_id(numa);
  }
  return out.SerializeAsString();
}

std::string encode_preferred_request(const PreferredRequest& request) {
  v1beta1::PreferredAllocationRequest out;
  auto& container = *out.add_container_requests();
  for (const std::string& id : request.available) container.add_available_deviceids(id);
  for (const std::string& id : request.must_include) container.add_must_include_deviceids(id);
  container.set_allocation_size(request.size);
  return out.SerializeAsString();
}

Result<std::vector<PreferredRequest>> decode_preferred_requests(const std::string& bytes) {
  PLIM_TRY(auto message, parse<v1beta1::PreferredAllocationRequest>(bytes));
  std::vector<PreferredRequest> out;
  for (const auto& container : message.container_requests())
    out.push_back({.available = texts(container.available_deviceids()),
                   .must_include = texts(container.must_include_deviceids()),
                   .size = container.allocation_size()});
  return out;
}

Result<PreferredRequest> decode_preferred_request(const std::string& bytes) {
  PLIM_TRY(auto containers, decode_preferred_requests(bytes));
  if (containers.size() != 1) return fail(Code::bad_request, "expected one container");
  return std::move(containers.front());
}

Result<DeviceIds> decode_preferred(const std::string& bytes) {
  PLIM_TRY(auto message, parse<v1beta1::PreferredAllocationResponse>(bytes));
  if (message.container_responses_size() != 1) return DeviceIds();
  return texts(message.container_responses(0).deviceids());
}

std::string encode_preferred_all(const std::vector<DeviceIds>& containers) {
  v1beta1::PreferredAllocationResponse out;
  for (const DeviceIds& ids : containers) {
    auto& container = *out.add_container_responses();
    for (const std::string& id : ids) container.add_deviceids(id);
  }
  return out.SerializeAsString();
}

std::string encode_preferred(const DeviceIds& ids) {
  return encode_preferred_all(std::vector<DeviceIds>(1, ids));
}

std::string encode_allocate_requests(const std::vector<DeviceIds>& containers) {
  v1beta1::AllocateRequest out;
  for (const DeviceIds& ids : containers) {
    auto& container = *out.add_container_requests();
    for (const std::string& id : ids) container.add_devices_ids(id);
  }
  return out.SerializeAsString();
}

std::string encode_allocate_request(const DeviceIds& ids) {
  return encode_allocate_requests(std::vector<DeviceIds>(1, ids));
}

Result<std::vector<DeviceIds>> decode_allocate_requests(const std::string& bytes) {
  PLIM_TRY(auto message, parse<v1beta1::AllocateRequest>(bytes));
  std::vector<DeviceIds> out;
  for (const auto& container : message.container_requests())
    out.push_back(texts(container.devices_ids()));
  return out;
}

Result<DeviceIds> decode_allocate_request(const std::string& bytes) {
  PLIM_TRY(auto containers, decode_allocate_requests(bytes));
  if (containers.size() != 1) return fail(Code::bad_request, "expected one container");
  return std::move(containers.front());
}

Result<std::string> decode_allocate(const std::string& bytes) {
  PLIM_TRY(auto message, parse<v1beta1::AllocateResponse>(bytes));
  if (message.container_responses_size() == 0)
    return fail(Code::internal, "the plugin's response to Allocate is empty");
  return message.container_responses(0).SerializeAsString();
}

Result<std::vector<DeviceGrants>> decode_allocate_all(const std::string& bytes) {
  PLIM_TRY(auto message, parse<v1beta1::AllocateResponse>(bytes));
  std::vector<DeviceGrants> out;
  for (const auto& container : message.container_responses()) {
    PLIM_TRY(DeviceGrants grants, decode_grants(container.SerializeAsString()));
    out.push_back(std::move(grants));
  }
  return out;
}

Result<DeviceGrants> decode_grants(const std::string& container_response) {
  PLIM_TRY(auto message, parse<v1beta1::ContainerAllocateResponse>(container_response));
  DeviceGrants out;
  out.env.assign(message.envs().begin(), message.envs().end());
  out.annotations.assign(message.annotations().begin(), message.annotations().end());
  for (const auto& mount : message.mounts())
    out.mounts.push_back({mount.container_path(), mount.host_path(), mount.read_only()});
  for (const auto& device : message.devices())
    out.devices.push_back({device.container_path(), device.host_path(), device.permissions()});
  for (const auto& device : message.cdi_devices()) out.cdi_devices.push_back(device.name());
  std::sort(out.env.begin(), out.env.end());
  std::sort(out.annotations.begin(), out.annotations.end());
  return out;
}

std::string encode_allocate_all(const std::vector<DeviceGrants>& containers) {
  v1beta1::AllocateResponse out;
  for (const DeviceGrants& grants : containers) fill(*out.add_container_responses(), grants);
  return out.SerializeAsString();
}

std::string encode_allocate(const DeviceGrants& grants) {
  return encode_allocate_all(std::vector<DeviceGrants>(1, grants));
}

std::string encode_pre_start(const DeviceIds& ids) {
  v1beta1::PreStartContainerRequest out;
  for (const std::string& id : ids) out.add_devices_ids(id);
  return out.SerializeAsString();
}

}  // namespace plim::node
