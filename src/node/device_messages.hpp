// The messages of Kubernetes' device plugin API as structs, with their encoding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace plim::node {

inline constexpr std::string_view kDevicePluginVersion = "v1beta1";

struct PluginOptions {
  bool pre_start = false;  // requires PreStartContainer before each start
  bool preferred = false;  // implements GetPreferredAllocation
};

struct PluginRegistration {
  std::string version, endpoint, resource;
  PluginOptions options;
};

struct Device {
  std::string id;
  bool healthy = false;
  std::vector<std::int64_t> numa_nodes = {};

  bool operator==(const Device&) const = default;
};

using DeviceIds = std::vector<std::string>;

struct DeviceMount {
  std::string container_path, host_path;
  bool read_only = false;
};

// A device file for the container.
struct DeviceFile {
  std::string container_path, host_path;
  std::string permissions;  // of "rwm"
};

// What plugins request for one container.
struct DeviceGrants {
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<std::pair<std::string, std::string>> annotations;
  std::vector<DeviceMount> mounts;
  std::vector<DeviceFile> devices;
  std::vector<std::string> cdi_devices;  // "vendor.example/gpu=0"
};

Result<PluginRegistration> decode_registration(const std::string& bytes);
Result<PluginOptions> decode_plugin_options(const std::string& bytes);
Result<std::vector<Device>> decode_devices(const std::string& bytes);

struct PreferredRequest {
  DeviceIds available, must_include;
  std::int32_t size = 0;
};

std::string encode_preferred_request(const PreferredRequest& request);
Result<DeviceIds> decode_preferred(const std::string& bytes);
std::string encode_allocate_request(const DeviceIds& ids);
// One request may be about several containers.
std::string encode_allocate_requests(const std::vector<DeviceIds>& containers);
// The part of the requested container; checkpoints store it unchanged.
Result<std::string> decode_allocate(const std::string& bytes);
Result<DeviceGrants> decode_grants(const std::string& container_response);
std::string encode_pre_start(const DeviceIds& ids);

// For tests with a fake plugin, and for the other side of the calls above.
std::string encode_registration(const PluginRegistration& registration);
std::string encode_plugin_options(const PluginOptions& options);
std::string encode_devices(const std::vector<Device>& devices);
Result<DeviceIds> decode_allocate_request(const std::string& bytes);
std::string encode_allocate(const DeviceGrants& grants);
Result<PreferredRequest> decode_preferred_request(const std::string& bytes);
std::string encode_preferred(const DeviceIds& ids);

// The same for requests about several containers; the answer has as many parts, in that order.
Result<std::vector<DeviceIds>> decode_allocate_requests(const std::string& bytes);
std::string encode_allocate_all(const std::vector<DeviceGrants>& containers);
Result<std::vector<DeviceGrants>> decode_allocate_all(const std::string& bytes);
Result<std::vector<PreferredRequest>> decode_preferred_requests(const std::string& bytes);
std::string encode_preferred_all(const std::vector<DeviceIds>& containers);

}  // namespace plim::node
