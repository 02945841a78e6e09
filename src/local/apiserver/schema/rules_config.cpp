// Configuration, nodes and other kinds that are mostly data.
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "local/apiserver/schema/checks.hpp"
#include "local/apiserver/schema/rule_tables.hpp"

namespace plim::local::apiserver {
namespace {

using namespace rule;

// --- config maps and secrets

constexpr std::size_t kMaxDataBytes = 1024 * 1024;
constexpr std::string_view kSealed = "field is immutable when `immutable` is set";

// Checks the keys; returns the total size.
std::size_t check_entries(const Place& object, std::string_view field, Causes& causes) {
  std::size_t bytes = 0;
  for (const auto& entry : object.map(field)) {
    std::string_view key = entry.key();
    Messages messages = check_config_key(key);
    if (!messages.empty()) causes.invalid_text(fmt::format("{}[{}]", field, key), key, messages);
    if (entry.value().is_string()) bytes += entry.value().get_string().size();
  }
  return bytes;
}

void check_still_sealed(const Place& object, const json::value* before, Causes& causes) {
  if (before == nullptr || !bool_at(*before, {"immutable"})) return;
  if (!bool_at(object.value(), {"immutable"})) causes.forbidden("immutable", kSealed);
  for (std::string_view field : {"data", "binaryData"})
    if (object.member(field) != Place(*before).member(field))
      causes.forbidden(std::string(field), kSealed);
}

void check_config_map(const Place& map, const json::value* /*before*/, Causes& causes) {
  std::size_t bytes = check_entries(map, "data", causes);
  bytes += check_entries(map, "binaryData", causes) / 4 * 3;
  const json::object& binary = map.map("binaryData");
  for (const auto& entry : map.map("data"))
    if (binary.contains(entry.key()))
      causes.invalid(fmt::format("data[{}]", std::string_view(entry.key())),
                     json::value(entry.key()), "duplicate of key present in binaryData");
  if (bytes > kMaxDataBytes) causes.too_long("", kMaxDataBytes);
}

constexpr Rule kConfigMap[] = {custom(check_still_sealed), custom(check_config_map)};

struct SecretType {
  std::string_view type;
  std::string_view keys;  // keys that it must have
};

constexpr std::array kSecretTypes{
    SecretType{"kubernetes.io/tls", "tls.crt,tls.key"},
    SecretType{"kubernetes.io/dockerconfigjson", ".dockerconfigjson"},
    SecretType{"kubernetes.io/dockercfg", ".dockercfg"},
    SecretType{"kubernetes.io/ssh-auth", "ssh-privatekey"},
};

void check_secret(const Place& secret, const json::value* /*before*/, Causes& causes) {
  std::size_t bytes = check_entries(secret, "data", causes) / 4 * 3;
  if (bytes > kMaxDataBytes) causes.too_long("data", kMaxDataBytes);
  std::string_view type = secret.text("type");
  const json::object& data = secret.map("data");
  for (const SecretType& known : kSecretTypes) {
    if (known.type != type) continue;
    for (std::string_view key : split(known.keys, ','))
      if (!data.contains(key)) causes.required(fmt::format("data[{}]", key));
  }
  if (type == "kubernetes.io/basic-auth" && !data.contains("username") &&
      !data.contains("password")) {
    causes.required("data[username]");
    causes.required("data[password]");
  }
  constexpr std::string_view kAccount = "kubernetes.io/service-account.name";
  if (type == "kubernetes.io/service-account-token" &&
      !secret.map("metadata.annotations").contains(kAccount))
    causes.required(fmt::format("metadata.annotations[{}]", kAccount));
}

constexpr Rule kSecret[] = {fixed("type"), custom(check_still_sealed), custom(check_secret)};

// --- nodes, quotas and classes

// Upstream uses this path for taints.
void check_taints(const Place& node, const json::value* /*before*/, Causes& causes) {
  const Place taints = node.under("metadata.taints", node.member("spec.taints"));
  const json::array& list = taints.list("");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Place taint = taints.at(i);
    causes.invalid_text(taint.path("key"), taint.text("key"),
                        check_qualified_name(taint.text("key")));
    causes.invalid_text(taint.path("value"), taint.text("value"),
                        check_label_text(taint.text("value")));
    std::string_view effect = taint.text("effect");
    if (effect.empty())
      causes.required(taint.path("effect"));
    else if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute")
      causes.unsupported(taint.path("effect"), json::value(effect),
                         "NoSchedule,PreferNoSchedule,NoExecute");
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (text_at(list[earlier], {"key"}) != taint.text("key") ||
          text_at(list[earlier], {"effect"}) != effect)
        continue;
      const json::object shown = {{"Key", taint.text("key")},
                                  {"Value", taint.text("value")},
                                  {"Effect", effect},
                                  {"TimeAdded", nullptr}};
      causes.duplicate(taint.path(), shown, "taints must be unique by key and effect pair");
      break;
    }
  }
}

constexpr Rule kNode[] = {custom(check_taints)};

void check_hard(const Place& spec, const json::value* /*before*/, Causes& causes) {
  const Place hard = spec.in("hard");
  for (const auto& entry : hard.map("")) check_amount(hard.of_key(entry.key()), Whole::no, causes);
}

constexpr Rule kQuotaSpec[] = {custom(check_hard)};
constexpr Rule kQuota[] = {inside("spec", kQuotaSpec)};

Messages check_lower_qualified_name(std::string_view name) {
  return check_qualified_name(to_lower(name));
}

constexpr Rule kStorageClass[] = {
    required("provisioner"),
    text("provisioner", check_lower_qualified_name),
    one_of("reclaimPolicy", "Delete,Retain"),
    one_of("volumeBindingMode", "Immediate,WaitForFirstConsumer"),
    immutable("parameters"),
    immutable("provisioner"),
    immutable("reclaimPolicy"),
    immutable("volumeBindingMode"),
};

constexpr std::int64_t kHighestPriority = 1'000'000'000;

void check_priority(const Place& priority, const json::value* before, Causes& causes) {
  if (before != nullptr) return;
  std::string_view name = priority.text("metadata.name");
  if (name.starts_with("system-")) {
    if (name != "system-node-critical" && name != "system-cluster-critical")
      causes.forbidden("metadata.name",
                       fmt::format("priority class names with 'system-' prefix are reserved for "
                                   "system use only. error: {} is not a known system priority "
                                   "class",
                                   name));
  } else if (priority.number("value").value_or(0) > kHighestPriority) {
    causes.forbidden("value", fmt::format("maximum allowed value of a user defined priority is {}",
                                          kHighestPriority));
  }
}

constexpr Rule kPriorityClass[] = {
    custom(check_priority),
    one_of("preemptionPolicy", "PreemptLowerPriority,Never"),
    sealed("value", "may not be changed in an update."),
    fixed("preemptionPolicy"),
};

// --- leases, events, bindings

constexpr Rule kLeaseSpec[] = {
    positive("leaseDurationSeconds"),
    not_negative("leaseTransitions"),
    one_of("strategy", "OldestEmulationVersion"),
};
constexpr Rule kLease[] = {inside("spec", kLeaseSpec)};

void check_event_place(const Place& event, const json::value* /*before*/, Causes& causes) {
  std::string_view space = event.text("metadata.namespace");
  std::string_view involved = event.text("involvedObject.namespace");
  bool is_old = !event.has("eventTime");
  bool fits = involved.empty() ? space == "default" || (!is_old && space == "kube-system")
                               : !is_old || involved == space;
  if (!fits)
    causes.invalid("involvedObject.namespace", json::value(involved),
                   "does not match event.namespace");
}

constexpr Rule kEvent[] = {custom(check_event_place)};

void check_target_kind(const Place& binding, const json::value* /*before*/, Causes& causes) {
  std::string_view kind = binding.text("target.kind");
  if (!kind.empty() && kind != "Node")
    causes.unsupported("target.kind", json::value(kind), "Node,<empty>");
}

constexpr Rule kBinding[] = {custom(check_target_kind), required("target.name")};

}  // namespace

constinit const RuleTable kConfigMapRules{kConfigMap};
constinit const RuleTable kSecretRules{kSecret};
constinit const RuleTable kNodeRules{kNode};
constinit const RuleTable kQuotaRules{kQuota};
constinit const RuleTable kStorageClassRules{kStorageClass};
constinit const RuleTable kPriorityClassRules{kPriorityClass};
constinit const RuleTable kLeaseRules{kLease};
constinit const RuleTable kEventRules{kEvent};
constinit const RuleTable kBindingRules{kBinding};

}  // namespace plim::local::apiserver
