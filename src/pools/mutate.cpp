#include "pools/mutate.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "kube/patch_writer.hpp"
#include "kube/paths.hpp"
#include "pools/annotation.hpp"
#include "pools/mutate_requests.hpp"

namespace plim::pools {
namespace {

constexpr std::string_view kPodinfo = "podinfo";
constexpr std::string_view kPodinfoPath = "/etc/podinfo";
constexpr std::string_view kHostbin = "hostbin";
constexpr std::string_view kQuotaOption = "plimsoll.io/cfs-quota";
// Reserved names that have no effect in this version.
constexpr std::array<std::string_view, 2> kLaterOptions{"plimsoll.io/smt", "plimsoll.io/numa"};

tl::unexpected<Rejection> refuse_pod(std::string_view code, std::string text) {
  return tl::unexpected(Rejection{code, std::move(text)});
}

const json::array* array_in(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains(name);
  return found && found->is_array() ? &found->get_array() : nullptr;
}

json::value podinfo_volume() {
  json::object item{{"path", "annotations"},
                    {"fieldRef", json::object{{"fieldPath", "metadata.annotations"}}}};
  return json::object{{"name", kPodinfo},
                      {"downwardAPI", json::object{{"items", json::array{std::move(item)}}}}};
}

json::value hostbin_volume(const std::string& starter) {
  return json::object{{"name", kHostbin},
                      {"hostPath", json::object{{"path", starter}, {"type", "File"}}}};
}

// Ignores defaults that the API server has filled in.
bool is_podinfo(const json::value& volume) {
  const json::value* items = kube::find(volume, "Volume.downwardAPI.items");
  if (!items || !items->is_array() || items->get_array().size() != 1) return false;
  const json::value& item = items->get_array()[0];
  return kube::text_at(item, "DownwardAPIVolumeFile.path") == "annotations" &&
         kube::text_at(item, "DownwardAPIVolumeFile.fieldRef.fieldPath") == "metadata.annotations";
}

bool is_hostbin(const json::value& volume, std::string_view starter) {
  const std::string_view type = kube::text_at(volume, "Volume.hostPath.type");
  return kube::text_at(volume, "Volume.hostPath.path") == starter &&
         (type.empty() || type == "File");
}

bool is_amount(const json::value* value, const Quantity& amount) {
  if (!value) return false;
  const auto parsed =
      parse_quantity(value->is_string() ? std::string(value->get_string()) : to_json(*value));
  return parsed && *parsed == amount;
}

// Admission of one pod at its creation.
class PodMutation {
 public:
  PodMutation(const json::value& pod, const PoolCatalog& pools, const MutateOptions& options)
      : pod_(pod), pools_(pools), options_(options), quotas_(options.cfs_quotas) {}

  kube::AdmissionAnswer run() {
    kube::AdmissionAnswer out;
    auto done = mutate();
    if (done) {
      out.patch = patch_.take();
    } else {
      out.allowed = false;
      out.code = done.error().code;
      out.message = fmt::format("{}: {}", done.error().code, done.error().text);
    }
    out.warnings = std::move(warnings_);
    return out;
  }

 private:
  Admitted<void> mutate() {
    const std::string key = pools_.base_name + "/cpus";
    const json::value* text = kube::find(pod_, "Pod.metadata.annotations", key);
    if (text && !text->is_null()) {
      if (!text->is_string()) return refuse_pod("ANN001", "the annotation is not a text");
      auto read = read_annotation(text->get_string());
      if (!read) return tl::unexpected(read.error());
      annotation_ = std::move(*read);
      warnings_ = std::move(annotation_->warnings);
    }
    auto users = pool_users(pod_, pools_);
    if (!users) return tl::unexpected(users.error());
    if (annotation_)
      if (auto good = check_annotation(*annotation_, *users, options_.smt_width); !good)
        return good;
    if (auto good = check_requests(*users, pools_, options_.unknown_pool, warnings_); !good)
      return good;
    read_options();
    bool pinned = false;
    for (const PoolUser& user : *users) {
      if (user.requests.empty()) continue;
      set_quota(user);
      const bool pin = is_pinned(user);
      pinned = pinned || pin;
      set_environment(user, pin);
      if (!pin) continue;
      set_command(user);
      if (auto good = add_mounts(user); !good) return good;
    }
    return pinned ? add_volumes() : Admitted<void>();
  }

  // Options of a single pod. Warns about options without effect, so that users do not rely on them.
  void read_options() {
    if (const json::value* quota = kube::find(pod_, "Pod.metadata.annotations", kQuotaOption)) {
      if (quota->is_string() && quota->get_string() == "none")
        quotas_ = CfsQuotas::none;
      else
        warnings_.push_back(fmt::format("{}: the only valid value is none", kQuotaOption));
    }
    for (std::string_view option : kLaterOptions)
      if (kube::find(pod_, "Pod.metadata.annotations", option) != nullptr)
        warnings_.push_back(fmt::format("{} has no effect in this version", option));
  }

  bool is_named(const PoolUser& user) const {
    return annotation_ && annotation_->find(user.name) != nullptr;
  }

  bool is_pinned(const PoolUser& user) {
    if (is_named(user)) return true;
    if (!user.asks(PoolType::exclusive)) return false;
    const json::array* command = array_in(*user.container, "command");
    if (command != nullptr && !command->empty()) return true;
    warnings_.push_back(fmt::format(
        "NoCommand: container {} has exclusive CPUs, but no command to pin", quote(user.name)));
    return false;
  }

  void set_quota(const PoolUser& user) {
    const auto quota = cpu_quota(user, quotas_, options_.smt_width);
    if (!quota) return;
    // The container has limits, because its pools are in them.
    const json::value& resources = user.container->at("resources");
    const Quantity wanted = Quantity::from_milli(*quota);
    const json::value* limit = kube::find(resources, "ResourceRequirements.limits.cpu");
    const auto has = limit && limit->is_string() ? parse_quantity(limit->get_string())
                                                 : Result<Quantity>(fail(Code::not_found, ""));
    if (has && *has < wanted)
      warnings_.push_back(
          fmt::format("RES004: container {} keeps its cpu limit of {}, below the {}m of its pools",
                      quote(user.name), std::string_view(limit->get_string()), *quota));
    else if (!is_amount(limit, wanted))
      patch_.add(user.pointer + "/resources/limits/cpu", json::string(fmt::format("{}m", *quota)));
    // CPUs of a pool must not count against the node's CPU as well.
    const json::value* requests = kube::find(resources, "ResourceRequirements.requests");
    if (!requests || !requests->is_object())
      patch_.add(user.pointer + "/resources/requests", json::object{{"cpu", "0m"}});
    else if (!is_amount(kube::find(resources, "ResourceRequirements.requests.cpu"), Quantity()))
      patch_.add(user.pointer + "/resources/requests/cpu", "0m");
  }

  void set_environment(const PoolUser& user, bool pinned) {
    std::vector<std::pair<std::string_view, std::string>> wanted;
    if (pinned) wanted.emplace_back("CONTAINER_NAME", user.name);
    if (pinned && pools_.base_name != kDefaultBaseName)
      wanted.emplace_back("PLIMSOLL_BASE_NAME", pools_.base_name);
    const bool exclusive = user.asks(PoolType::exclusive), shared = user.asks(PoolType::shared);
    if (exclusive || shared)
      wanted.emplace_back("CPU_POOLS", exclusive && shared ? "exclusive&shared"
                                       : exclusive         ? "exclusive"
                                                           : "shared");
    const std::string path = user.pointer + "/env";
    const json::value* list = user.container->if_contains("env");
    std::vector<json::value> missing;
    for (auto& [name, value] : wanted) {
      json::value entry = json::object{{"name", name}, {"value", value}};
      const auto at = last_named(list, name);
      if (!at)
        missing.push_back(std::move(entry));
      else if (const json::value& found = list->get_array()[*at];
               kube::text_at(found, "EnvVar.value") != value ||
               kube::find(found, "EnvVar.valueFrom") != nullptr)
        patch_.replace(fmt::format("{}/{}", path, *at), std::move(entry));
    }
    patch_.append(path, list, std::move(missing));
  }

  // If a name occurs several times, the last one counts.
  static std::optional<std::size_t> last_named(const json::value* list, std::string_view name) {
    if (!list || !list->is_array()) return std::nullopt;
    for (std::size_t i = list->get_array().size(); i-- > 0;)
      if (kube::text_at(list->get_array()[i], "EnvVar.name") == name) return i;
    return std::nullopt;
  }

  void set_command(const PoolUser& user) {
    const json::array* command = array_in(*user.container, "command");
    const bool done = command && command->size() == 1 && (*command)[0].is_string() &&
                      (*command)[0].get_string() == options_.starter_path;
    if (done) return;  // the webhook has changed this container before
    patch_.add(user.pointer + "/command", json::array{options_.starter_path});
    if (is_named(user)) return;
    json::array words = *command;  // not null: a container without a command is not pinned
    if (const json::array* args = array_in(*user.container, "args"))
      words.insert(words.end(), args->begin(), args->end());
    patch_.add(user.pointer + "/args", std::move(words));
  }

  Admitted<void> add_mounts(const PoolUser& user) {
    std::vector<std::pair<std::string_view, std::string_view>> wanted{{kPodinfo, kPodinfoPath}};
    if (options_.delivery == StarterDelivery::hostpath)
      wanted.emplace_back(kHostbin, options_.starter_path);
    const json::array* list = array_in(*user.container, "volumeMounts");
    std::vector<json::value> missing;
    for (const auto& [name, path] : wanted) {
      bool there = false;
      for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        const json::value& mount = (*list)[i];
        const bool same_name = kube::text_at(mount, "VolumeMount.name") == name;
        const bool same_path = kube::text_at(mount, "VolumeMount.mountPath") == path;
        if (!same_name && !same_path) continue;
        const bool ours = same_name && same_path && kube::bool_at(mount, "VolumeMount.readOnly") &&
                          kube::text_at(mount, "VolumeMount.subPath").empty();
        if (!ours)
          return refuse_pod(
              "VOL001",
              fmt::format("container {}: volume mount {} is called {} and is at {}; {} at {} is "
                          "needed to start it on its CPUs",
                          quote(user.name), i, quote(kube::text_at(mount, "VolumeMount.name")),
                          quote(kube::text_at(mount, "VolumeMount.mountPath")), quote(name),
                          quote(path)));
        there = true;
      }
      if (!there)
        missing.push_back(json::object{{"name", name}, {"mountPath", path}, {"readOnly", true}});
    }
    patch_.append(user.pointer + "/volumeMounts", user.container->if_contains("volumeMounts"),
                  std::move(missing));
    return {};
  }

  Admitted<void> add_volumes() {
    const json::value* list = kube::find(pod_, "Pod.spec.volumes");
    bool has_podinfo = false, has_hostbin = options_.delivery == StarterDelivery::plugin;
    for (std::size_t i = 0; list && list->is_array() && i < list->get_array().size(); ++i) {
      const json::value& volume = list->get_array()[i];
      const std::string_view name = kube::text_at(volume, "Volume.name");
      const bool wants_podinfo = name == kPodinfo;
      const bool wants_hostbin = name == kHostbin && options_.delivery == StarterDelivery::hostpath;
      if ((wants_podinfo && !is_podinfo(volume)) ||
          (wants_hostbin && !is_hostbin(volume, options_.starter_path)))
        return refuse_pod("VOL001", fmt::format("volume {} is called {}, a name that pinned "
                                                "containers need for another volume",
                                                i, quote(name)));
      has_podinfo = has_podinfo || wants_podinfo;
      has_hostbin = has_hostbin || wants_hostbin;
    }
    std::vector<json::value> missing;
    if (!has_podinfo) missing.push_back(podinfo_volume());
    if (!has_hostbin) missing.push_back(hostbin_volume(options_.starter_path));
    patch_.append("/spec/volumes", list, std::move(missing));
    return {};
  }

  const json::value& pod_;
  const PoolCatalog& pools_;
  const MutateOptions& options_;
  CfsQuotas quotas_;
  std::optional<Annotation> annotation_;
  kube::PatchWriter patch_;
  std::vector<std::string> warnings_;
};

// API servers always send the pod. Without it nothing was checked, so nothing may pass.
kube::AdmissionAnswer refuse_review(const kube::AdmissionReview& review, std::string_view member) {
  kube::AdmissionAnswer out;
  out.allowed = false;
  out.code = "REV001";
  out.message =
      fmt::format("{}: the review of a {} of pods has no {}", out.code, review.operation, member);
  return out;
}

// Checks updates: the starter reads the annotation again when a container restarts.
kube::AdmissionAnswer check_update(const kube::AdmissionReview& review, const PoolCatalog& pools) {
  const std::string key = pools.base_name + "/cpus";
  const json::value* before = kube::find(review.old_object, "Pod.metadata.annotations", key);
  const json::value* after = kube::find(review.object, "Pod.metadata.annotations", key);
  kube::AdmissionAnswer out;
  if (before == after || (before && after && *before == *after)) return out;
  out.allowed = false;
  out.code = "ANN015";
  out.message = fmt::format("ANN015: annotation {} of a pod that exists cannot be {}", key,
                            !before  ? "added"
                            : !after ? "removed"
                                     : "changed");
  return out;
}

}  // namespace

PoolCatalog PoolCatalog::of(const PoolConfig& config) {
  PoolCatalog out{.base_name = config.base_name};
  for (const PoolFile& file : config.files) {
    for (const Pool& pool : file.pools) {
      PoolFacts& facts = out.pools[pool.name];
      if (pool.type != PoolType::common) facts.type = pool.type;
      facts.largest = std::max(facts.largest, static_cast<int>(pool.cpus.count()));
      facts.shared_unit = std::max(facts.shared_unit, pool.shared_unit);
      facts.whole_cores = facts.whole_cores || pool.smt == SmtPolicy::multi;
    }
  }
  return out;
}

const PoolFacts* PoolCatalog::find(std::string_view name) const {
  const auto at = pools.find(name);
  return at == pools.end() ? nullptr : &at->second;
}

PoolType PoolCatalog::type_of(std::string_view name) const {
  if (const PoolFacts* facts = find(name)) return facts->type;
  if (name.starts_with("exclusive")) return PoolType::exclusive;
  return name.starts_with("shared") ? PoolType::shared : PoolType::common;
}

kube::AdmissionAnswer mutate_pod(const kube::AdmissionReview& review, const PoolCatalog& pools,
                                 const MutateOptions& options) {
  const bool creates = review.operation == "CREATE", updates = review.operation == "UPDATE";
  if (!review.is_about_pods() || (!creates && !updates)) return {};
  if (!review.object.is_object()) return refuse_review(review, "object");
  if (updates && !review.old_object.is_object()) return refuse_review(review, "oldObject");
  if (updates) return check_update(review, pools);
  return PodMutation(review.object, pools, options).run();
}

}  // namespace plim::pools
