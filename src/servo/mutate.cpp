#include "servo/mutate.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json.hpp"
#include "kube/object.hpp"
#include "kube/patch_writer.hpp"
#include "kube/paths.hpp"
#include "kube/qos.hpp"
#include "node/cgroup_names.hpp"
#include "servo/job.hpp"

namespace plim::servo {
namespace {

constexpr std::string_view kSysVolume = "rsys";
constexpr std::string_view kMarkPointer = "/metadata/annotations/plimsoll.io~1servo";

const json::value* entry_named(const json::value* list, std::string_view name) {
  if (list == nullptr || !list->is_array()) return nullptr;
  const auto at = std::ranges::find_if(list->get_array(), [&](const json::value& entry) {
    return text_at(entry, {"name"}) == name;
  });
  return at == list->get_array().end() ? nullptr : &*at;
}

json::value sys_volume() {
  return json::object{{"name", kSysVolume},
                      {"hostPath", json::object{{"path", "/sys"}, {"type", "Directory"}}}};
}

bool is_sys_volume(const json::value& volume) {
  return kube::text_at(volume, "Volume.hostPath.path") == "/sys";
}

// The pod's cgroup with the kubelet's cgroupfs driver. The uid is not known yet: the kubelet
// expands the variable when it starts the monitor.
std::string cgroup_path(std::string_view qos) {
  return "/" + node::pod_cgroup(node::CgroupDriver::cgroupfs,
                                node::parse_qos(qos).value_or(node::Qos::guaranteed),
                                "$(OPTUNE_SELF_ID)");
}

json::value variable(std::string_view name, std::string value) {
  return json::object{{"name", name}, {"value", std::move(value)}};
}

// One job's pod at its creation.
class JobMutation {
 public:
  JobMutation(const json::value& pod, const Monitor& monitor, MonitorForm form)
      : pod_(pod), monitor_(monitor), form_(form) {}

  kube::AdmissionAnswer run() {
    // The webhook saw the pod before, or the author of the pod added a monitor.
    for (kube::ListPath list :
         {kube::ListPath("Pod.spec.containers"), kube::ListPath("Pod.spec.initContainers")})
      if (entry_named(kube::find(pod_, list), kMonitorName) != nullptr) return {};
    if (!monitor_.image.empty()) add_monitor();
    add_mark();
    kube::AdmissionAnswer out;
    out.patch = patch_.take();
    out.warnings = std::move(warnings_);
    return out;
  }

 private:
  void add_monitor() {
    const json::value* volumes = kube::find(pod_, "Pod.spec.volumes");
    const json::value* volume = entry_named(volumes, kSysVolume);
    if (volume != nullptr && !is_sys_volume(*volume)) {
      warnings_.push_back(fmt::format("{} is not added: the pod has a volume {} that is not /sys",
                                      kMonitorName, kSysVolume));
      return;
    }
    if (volume == nullptr) {
      std::vector<json::value> added{sys_volume()};
      patch_.append("/spec/volumes", volumes, std::move(added));
    }
    // Append, because paths to application IDs contain indexes of containers.
    const kube::ListPath list = form_ == MonitorForm::sidecar
                                    ? kube::ListPath("Pod.spec.initContainers")
                                    : kube::ListPath("Pod.spec.containers");
    std::vector<json::value> added{container()};
    patch_.append(fmt::format("/spec/{}", list.key()), kube::find(pod_, list), std::move(added));
    if (form_ == MonitorForm::appended)
      warnings_.push_back(fmt::format(
          "{} keeps the pod running after its job: sidecars need Kubernetes 1.29", kMonitorName));
  }

  json::value container() const {
    const std::string_view qos = kube::qos_class(pod_);
    json::value self = json::object{
        {"name", "OPTUNE_SELF_ID"},
        {"valueFrom", json::object{{"fieldRef", json::object{{"fieldPath", "metadata.uid"}}}}}};
    json::array env{std::move(self), variable("OPTUNE_CGROUP_PATH", cgroup_path(qos))};
    if (!monitor_.target.empty()) env.push_back(variable("REPORT_TARGET", monitor_.target));
    json::object out{{"name", kMonitorName}, {"image", monitor_.image}};
    if (form_ == MonitorForm::sidecar) out["restartPolicy"] = "Always";
    out["env"] = std::move(env);
    // A container without these resources would change the QoS class of the pod.
    if (qos == "Guaranteed" && kube::find(pod_, "Pod.spec.resources") == nullptr) {
      const json::object amounts{{"cpu", "10m"}, {"memory", "64Mi"}};
      out["resources"] = json::object{{"requests", amounts}, {"limits", amounts}};
    }
    out["volumeMounts"] =
        json::array{json::object{{"name", kSysVolume}, {"mountPath", "/rsys"}, {"readOnly", true}}};
    return out;
  }

  void add_mark() {
    const json::value* metadata = kube::find(pod_, "Pod.metadata");
    if (metadata == nullptr || !metadata->is_object() ||
        kube::annotation_of(pod_, kMarkAnnotation) == kMark)
      return;
    const json::value* annotations = kube::find(*metadata, "ObjectMeta.annotations");
    if (annotations != nullptr && annotations->is_object())
      patch_.add(std::string(kMarkPointer), json::string(kMark));
    else
      patch_.add("/metadata/annotations", json::object{{kMarkAnnotation, kMark}});
  }

  const json::value& pod_;
  const Monitor& monitor_;
  MonitorForm form_;
  kube::PatchWriter patch_;
  std::vector<std::string> warnings_;
};

}  // namespace

kube::AdmissionAnswer mutate_job(const kube::AdmissionReview& review, const JobRules& rules,
                                 const Monitor& monitor, MonitorForm form) {
  if (!review.is_about_pods() || review.operation != "CREATE") return {};
  if (find_job(review.object, review.ns, rules).container == nullptr) return {};
  return JobMutation(review.object, monitor, form).run();
}

}  // namespace plim::servo
