// Volumes of pods, and claims.
#include <string>

#include <fmt/format.h>

#include "base/quantity.hpp"
#include "local/apiserver/schema/rule_tables.hpp"

namespace plim::local::apiserver {
namespace {

using namespace rule;

constexpr std::int64_t kMaxMode = 0777;
constexpr std::string_view kModeText =
    "must be a number between 0 and 0777 (octal), both inclusive";

void check_mode(const Place& place, std::string_view field, Causes& causes) {
  auto mode = place.number(field);
  if (mode && (*mode < 0 || *mode > kMaxMode)) causes.invalid(place.path(field), *mode, kModeText);
}

void check_default_mode(const Place& source, const json::value* /*before*/, Causes& causes) {
  check_mode(source, "defaultMode", causes);
}

void check_item_mode(const Place& item, const json::value* /*before*/, Causes& causes) {
  check_mode(item, "mode", causes);
}

constexpr Rule kKeyToPath[] = {required("key"), required("path"), custom(check_item_mode)};
constexpr Rule kHostPath[] = {required("path")};
constexpr Rule kSecretSource[] = {required("secretName"), custom(check_default_mode),
                                  each("items", kKeyToPath)};
constexpr Rule kConfigMapSource[] = {required("name"), custom(check_default_mode),
                                     each("items", kKeyToPath)};
constexpr Rule kNfs[] = {required("server"), required("path")};
constexpr Rule kClaimSource[] = {required("claimName")};
constexpr Rule kCsi[] = {required("driver")};

constexpr Part kSources[] = {
    {"emptyDir"},
    {"hostPath", kHostPath},
    {"gitRepo"},
    {"gcePersistentDisk"},
    {"awsElasticBlockStore"},
    {"secret", kSecretSource},
    {"nfs", kNfs},
    {"iscsi"},
    {"glusterfs"},
    {"flocker"},
    {"persistentVolumeClaim", kClaimSource},
    {"rbd"},
    {"cinder"},
    {"cephfs"},
    {"quobyte"},
    {"downwardAPI"},
    {"fc"},
    {"flexVolume"},
    {"configMap", kConfigMapSource},
    {"azureFile"},
    {"vsphereVolume"},
    {"photonPersistentDisk"},
    {"portworxVolume"},
    {"azureDisk"},
    {"storageos"},
    {"projected"},
    {"scaleIO"},
    {"csi", kCsi},
    {"ephemeral"},
    {"image"},
};

constexpr Rule kVolume[] = {
    one_part(kSources, "volume type"),
    required("name"),
    text("name", check_dns_label),
    unique("name"),
};

void check_access_modes(const Place& spec, const json::value* /*before*/, Causes& causes) {
  for (const json::value& mode : spec.list("accessModes"))
    if (mode != "ReadOnlyMany" && mode != "ReadWriteMany" && mode != "ReadWriteOnce" &&
        mode != "ReadWriteOncePod")
      causes.unsupported(spec.path("accessModes"), mode,
                         "ReadOnlyMany,ReadWriteMany,ReadWriteOnce,ReadWriteOncePod");
}

void check_storage(const Place& spec, const json::value* /*before*/, Causes& causes) {
  const std::string path = spec.path("resources[storage]");
  const json::value& amount = spec.member("resources.requests.storage");
  if (!amount.is_string()) return causes.required(path);
  auto parsed = parse_quantity(std::string_view(amount.get_string()));
  if (parsed && *parsed <= Quantity()) causes.invalid(path, amount, "must be greater than zero");
}

constexpr Rule kClaimSpec[] = {
    required("accessModes", "at least 1 access mode is required"),
    custom(check_access_modes),
    custom(check_storage),
    text("storageClassName", check_dns_subdomain),
    one_of("volumeMode", "Block,Filesystem"),
};

constexpr Rule kClaim[] = {inside("spec", kClaimSpec)};

}  // namespace

constinit const RuleTable kVolumeRules{kVolume};
constinit const RuleTable kClaimSpecRules{kClaimSpec};
constinit const RuleTable kClaimRules{kClaim};

}  // namespace plim::local::apiserver
