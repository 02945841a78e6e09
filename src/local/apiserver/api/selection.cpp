#include "local/apiserver/api/selection.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/api/kind_rules.hpp"

namespace plim::local::apiserver {
namespace {

using Fields = std::vector<SelectableField>;

Fields same(std::initializer_list<std::string> names) {
  Fields out;
  for (const std::string& name : names) out.push_back({.field = name, .path = name});
  return out;
}

Fields event_fields(std::string_view object) {
  Fields out;
  for (std::string_view part :
       {"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"})
    out.push_back({.field = fmt::format("{}.{}", object, part),
                   .path = fmt::format("involvedObject.{}", part)});
  out.push_back({.field = "reason", .path = "reason"});
  out.push_back({.field = "type", .path = "type"});
  return out;
}

Fields pod_fields() {
  Fields out =
      same({"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
            "status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName"});
  out.push_back({"spec.hostNetwork", "spec.hostNetwork", "false"});
  return out;
}

// In addition to metadata.name and metadata.namespace, which every kind has.
Fields fields_of(const Kind& kind) {
  if (kind.rules) return kind.rules->selectable_fields();
  if (kind.group == "events.k8s.io") {
    Fields out = event_fields("regarding");
    out.push_back({.field = "reportingController", .path = "reportingComponent"});
    return out;
  }
  if (kind.group == "batch" && kind.kind == "Job")
    return {{"status.successful", "status.succeeded", "0"}};
  if (kind.group == "apps" && kind.kind == "ReplicaSet")
    return {{"status.replicas", "status.replicas", "0"}};
  if (!kind.group.empty()) return {};
  if (kind.kind == "Pod") return pod_fields();
  if (kind.kind == "Node") return {{"spec.unschedulable", "spec.unschedulable", "false"}};
  if (kind.kind == "Namespace") return same({"status.phase"});
  if (kind.kind == "Secret") return same({"type"});
  if (kind.kind == "Service") return same({"spec.clusterIP", "spec.type"});
  if (kind.kind == "ReplicationController") return {{"status.replicas", "status.replicas", "0"}};
  if (kind.kind == "Event") {
    Fields out = event_fields("involvedObject");
    out.push_back({.field = "reportingComponent", .path = "reportingComponent"});
    out.push_back({.field = "source", .path = "source.component"});
    return out;
  }
  return {};
}

ApiError unsupported(const Kind& kind, const Fields& known, std::string_view field) {
  if (!known.empty()) return bad_request(fmt::format("field label not supported: {}", field));
  return bad_request(fmt::format("\"{}\" is not a known field selector: only \"metadata.name\"{}",
                                 field, kind.namespaced ? ", \"metadata.namespace\"" : ""));
}

}  // namespace

ApiResult<Selection> Selection::parse(const Kind& kind, std::string_view ns,
                                      std::string_view labels, std::string_view fields) {
  auto label_selector = kube::LabelSelector::parse(labels);
  if (!label_selector)
    return bad_request(
        fmt::format("unable to parse requirement: {}", label_selector.error().message));
  auto field_selector = kube::FieldSelector::parse(fields);
  if (!field_selector)
    for (std::string_view term : split(fields, ','))
      if (term.find('=') == term.npos)
        return bad_request(
            fmt::format("invalid selector: '{}'; can't understand '{}'", fields, term));
  if (!field_selector) return bad_request(field_selector.error().message);

  Selection out;
  out.prefix_ = kind.folder(ns);
  out.labels_ = label_selector->requirements();
  out.asked_ = field_selector->requirements();
  Fields known = fields_of(kind);
  for (const kube::FieldRequirement& one : out.asked_) {
    const bool equals = one.op == kube::FieldRequirement::Op::equals;
    SelectableField where{.field = one.field, .path = one.field};
    if (one.field != "metadata.name" && one.field != "metadata.namespace") {
      auto found = std::ranges::find(known, one.field, &SelectableField::field);
      if (found == known.end()) return unsupported(kind, known, one.field);
      where = *found;
    }
    // One object or one namespace is found by its key; an invalid name matches nothing.
    if (one.field == "metadata.namespace" && equals && kind.namespaced && ns.empty() &&
        !one.value.empty() && out.prefix_ == kind.prefix)
      out.prefix_ = kind.folder(one.value);
    FieldTest test{.fallback = where.fallback, .equals = equals, .value = one.value};
    for (std::string_view step : split(where.path, '.')) test.path.emplace_back(step);
    out.fields_.push_back(std::move(test));
  }
  const std::string_view name = out.required("metadata.name");
  const bool has_folder = !kind.namespaced || out.prefix_ != kind.prefix;
  if (!name.empty() && has_folder && name.find('/') == name.npos) out.prefix_ += name;
  return out;
}

std::string_view Selection::required(std::string_view field) const {
  for (const kube::FieldRequirement& one : asked_)
    if (one.field == field && one.op == kube::FieldRequirement::Op::equals) return one.value;
  return {};
}

}  // namespace plim::local::apiserver
