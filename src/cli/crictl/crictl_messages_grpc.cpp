#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/crictl/crictl_messages.hpp"
#include "cri_v1.pb.h"

namespace plim::cli {
namespace {

namespace cri = runtime::v1;

template <class Message>
Result<Message> parse_response(const std::string& bytes) {
  Message out;
  if (!out.ParseFromString(bytes))
    return fail(Code::invalid, "the runtime has sent a malformed message");
  return out;
}

template <class Texts>
json::array array_of(const Texts& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

json::object object_of(const google::protobuf::Map<std::string, std::string>& map) {
  const std::map<std::string, std::string> sorted(map.begin(), map.end());
  json::object out;
  for (const auto& [key, value] : sorted) out[key] = value;
  return out;
}

std::string_view without_quotes(std::string_view text) {
  while (text.starts_with('"')) text.remove_prefix(1);
  while (text.ends_with('"')) text.remove_suffix(1);
  return text;
}

json::object spec_json(const cri::ImageSpec& spec) {
  return {{"image", spec.image()},
          {"annotations", object_of(spec.annotations())},
          {"userSpecifiedImage", spec.user_specified_image()},
          {"runtimeHandler", spec.runtime_handler()},
          {"imageRef", spec.image_ref()}};
}

// 64-bit numbers are strings in the JSON form of protobuf.
json::object image_json(const cri::Image& image) {
  json::object out{{"id", image.id()},
                   {"repoTags", array_of(image.repo_tags())},
                   {"repoDigests", array_of(image.repo_digests())},
                   {"size", std::to_string(image.size())}};
  if (image.has_uid()) out["uid"] = json::object{{"value", std::to_string(image.uid().value())}};
  out["username"] = image.username();
  if (image.has_spec()) out["spec"] = spec_json(image.spec());
  out["pinned"] = image.pinned();
  return out;
}

json::object container_json(const cri::Container& container) {
  json::object out{{"id", container.id()}, {"podSandboxId", container.pod_sandbox_id()}};
  if (container.has_metadata())
    out["metadata"] = json::object{{"name", container.metadata().name()},
                                   {"attempt", container.metadata().attempt()}};
  if (container.has_image()) out["image"] = spec_json(container.image());
  out["imageRef"] = container.image_ref();
  out["state"] = cri::ContainerState_Name(container.state());
  out["createdAt"] = std::to_string(container.created_at());
  out["labels"] = object_of(container.labels());
  out["annotations"] = object_of(container.annotations());
  out["imageId"] = container.image_id();
  return out;
}

json::object pod_json(const cri::PodSandbox& pod) {
  json::object out{{"id", pod.id()}};
  if (pod.has_metadata())
    out["metadata"] = json::object{{"name", pod.metadata().name()},
                                   {"uid", pod.metadata().uid()},
                                   {"namespace", pod.metadata().namespace_()},
                                   {"attempt", pod.metadata().attempt()}};
  out["state"] = cri::PodSandboxState_Name(pod.state());
  out["createdAt"] = std::to_string(pod.created_at());
  out["labels"] = object_of(pod.labels());
  out["annotations"] = object_of(pod.annotations());
  out["runtimeHandler"] = pod.runtime_handler();
  return out;
}

// Sets only fields with a value, as crictl does for these two messages.
json::array handlers_json(const cri::StatusResponse& response) {
  json::array out;
  for (const cri::RuntimeHandler& handler : response.runtime_handlers()) {
    json::object one;
    if (handler.has_features()) {
      json::object features;
      if (handler.features().recursive_read_only_mounts())
        features["recursive_read_only_mounts"] = true;
      if (handler.features().user_namespaces()) features["user_namespaces"] = true;
      one["features"] = std::move(features);
    }
    if (!handler.name().empty()) one["name"] = handler.name();
    out.emplace_back(std::move(one));
  }
  return out;
}

json::object features_json(const cri::RuntimeFeatures& features) {
  json::object out;
  if (features.supplemental_groups_policy()) out["supplemental_groups_policy"] = true;
  if (features.user_namespaces_host_network()) out["user_namespaces_host_network"] = true;
  return out;
}

}  // namespace

std::string list_images_request(const std::string& image) {
  cri::ListImagesRequest out;
  out.mutable_filter()->mutable_image()->set_image(image);
  return out.SerializeAsString();
}

std::string image_status_request(const std::string& image) {
  cri::ImageStatusRequest out;
  out.mutable_image()->set_image(image);
  return out.SerializeAsString();
}

Result<std::string> list_containers_request(const CrictlFilter& filter) {
  static const std::map<std::string, cri::ContainerState, std::less<>> states{
      {"created", cri::CONTAINER_CREATED},
      {"running", cri::CONTAINER_RUNNING},
      {"exited", cri::CONTAINER_EXITED},
      {"unknown", cri::CONTAINER_UNKNOWN}};
  cri::ListContainersRequest out;
  auto& wanted = *out.mutable_filter();
  wanted.set_id(filter.id);
  wanted.set_pod_sandbox_id(filter.pod);
  if (!filter.state.empty()) {
    const auto state = states.find(to_lower(filter.state));
    if (state == states.end())
      return fail(Code::invalid,
                  fmt::format("--state: {} is not one of created, running, exited and unknown",
                              quote(filter.state)));
    wanted.mutable_state()->set_state(state->second);
  }
  for (const auto& [key, value] : filter.labels) (*wanted.mutable_label_selector())[key] = value;
  return out.SerializeAsString();
}

Result<std::string> list_pods_request(const CrictlFilter& filter) {
  cri::ListPodSandboxRequest out;
  auto& wanted = *out.mutable_filter();
  wanted.set_id(filter.id);
  if (!filter.state.empty()) {
    const std::string state = to_lower(filter.state);
    if (state != "ready" && state != "notready")
      return fail(Code::invalid,
                  fmt::format("--state: {} is neither ready nor notready", quote(filter.state)));
    wanted.mutable_state()->set_state(state == "ready" ? cri::SANDBOX_READY
                                                       : cri::SANDBOX_NOTREADY);
  }
  for (const auto& [key, value] : filter.labels) (*wanted.mutable_label_selector())[key] = value;
  return out.SerializeAsString();
}

std::string status_request(bool verbose) {
  cri::StatusRequest out;
  out.set_verbose(verbose);
  return out.SerializeAsString();
}

Result<json::array> images_of_response(const std::string& bytes) {
  PLIM_TRY(const auto response, parse_response<cri::ListImagesResponse>(bytes));
  json::array out;
  for (const cri::Image& image : response.images()) out.emplace_back(image_json(image));
  return out;
}

Result<json::value> image_of_response(const std::string& bytes) {
  PLIM_TRY(const auto response, parse_response<cri::ImageStatusResponse>(bytes));
  if (!response.has_image()) return json::value();
  return json::value(image_json(response.image()));
}

Result<json::array> containers_of_response(const std::string& bytes) {
  PLIM_TRY(const auto response, parse_response<cri::ListContainersResponse>(bytes));
  json::array out;
  for (const cri::Container& one : response.containers()) out.emplace_back(container_json(one));
  return out;
}

Result<json::array> pods_of_response(const std::string& bytes) {
  PLIM_TRY(const auto response, parse_response<cri::ListPodSandboxResponse>(bytes));
  json::array out;
  for (const cri::PodSandbox& one : response.items()) out.emplace_back(pod_json(one));
  return out;
}

Result<json::object> status_of_response(const std::string& bytes) {
  PLIM_TRY(const auto response, parse_response<cri::StatusResponse>(bytes));
  json::object out;
  for (const auto& [key, text] : object_of(response.info())) {
    const std::string_view value = text.get_string();
    auto parsed = value.starts_with('{') ? parse_json(value) : Result<json::value>(json::value());
    if (!parsed) return fail(Code::invalid, fmt::format("info {} is not JSON", quote(key)));
    if (parsed->is_object())
      out[key] = std::move(*parsed);
    else
      out[key] = without_quotes(value);
  }
  if (response.has_features()) out["features"] = features_json(response.features());
  if (response.runtime_handlers_size() > 0) out["runtimeHandlers"] = handlers_json(response);
  json::array conditions;
  for (const cri::RuntimeCondition& one : response.status().conditions())
    conditions.emplace_back(json::object{{"type", one.type()},
                                         {"status", one.status()},
                                         {"reason", one.reason()},
                                         {"message", one.message()}});
  out["status"] = json::object{{"conditions", std::move(conditions)}};
  return out;
}

Result<json::object> version_of_response(const std::string& bytes) {
  PLIM_TRY(const auto response, parse_response<cri::VersionResponse>(bytes));
  return json::object{{"Version", response.version()},
                      {"RuntimeName", response.runtime_name()},
                      {"RuntimeVersion", response.runtime_version()},
                      {"RuntimeApiVersion", response.runtime_api_version()}};
}

}  // namespace plim::cli
