// Metadata and owners, which every Kubernetes object has.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "kube/client.hpp"

namespace plim::kube {

// Views into the object; "" when missing.
std::string_view name_of(const json::value& object);
std::string_view namespace_of(const json::value& object);
std::string_view uid_of(const json::value& object);
std::string_view resource_version_of(const json::value& object);
std::string_view label_of(const json::value& object, std::string_view key);
std::string_view annotation_of(const json::value& object, std::string_view key);
bool is_being_deleted(const json::value& object);

// "namespace/name", or "name" for cluster-wide kinds: the key of caches and work queues.
std::string key_of(const json::value& object);

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  bool block_owner_deletion = false;
};

std::vector<OwnerReference> owners_of(const json::value& object);
std::optional<OwnerReference> controller_of(const json::value& object);
bool is_controlled_by(const json::value& object, std::string_view uid);

// Adds the reference or replaces the one with the same uid. An object has at most one controller:
// Code::conflict names the other one.
Result<void> set_owner(json::value& object, const OwnerReference& owner);
// False if no reference had that uid.
bool remove_owner(json::value& object, std::string_view uid);

}  // namespace plim::kube
