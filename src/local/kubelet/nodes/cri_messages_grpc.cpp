#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.hpp"
#include "containerd_content_v1.pb.h"
#include "containerd_events_v1.pb.h"
#include "cri_v1.pb.h"
#include "local/images/layer_store.hpp"
#include "local/kubelet/nodes/cri_messages.hpp"

namespace plim::local::kubelet {
namespace {

namespace cri = runtime::v1;
namespace content = containerd::services::content::v1;

// Typical sizes of manifests and configurations in a registry.
constexpr std::int64_t kManifestBytes = 1000, kConfigBytes = 2000;

bool is_meant(const images::NamedImage& image, const std::string& wanted) {
  if (wanted.empty() || wanted == image.image->digest) return true;
  const std::string id = image_id(*image.image);
  if (wanted == id || (wanted.size() >= 12 && id.substr(7).starts_with(wanted))) return true;
  const std::string name = images::normalise_image(wanted);
  return std::ranges::count(image.tags, name) + std::ranges::count(image.by_digest, name) > 0;
}

void fill(cri::Image& out, const images::NamedImage& image) {
  out.set_id(image_id(*image.image));
  for (const std::string& name : image.tags) out.add_repo_tags(name);
  for (const std::string& name : image.by_digest) out.add_repo_digests(name);
  out.set_size(static_cast<std::uint64_t>(image.image->bytes()));
  out.mutable_spec()->set_image(out.id());
}

// The part of containerd's verbose information that readers of layers need.
std::string verbose_info(const images::Image& image) {
  json::array layers;
  for (const images::Layer& layer : image.layers) layers.emplace_back(layer.digest);
  json::object rootfs{{"type", "layers"}, {"diff_ids", std::move(layers)}};
  json::object config{{"Entrypoint", json::array(image.entrypoint.begin(), image.entrypoint.end())},
                      {"Cmd", json::array(image.command.begin(), image.command.end())}};
  json::object spec{{"architecture", "amd64"},
                    {"os", "linux"},
                    {"config", std::move(config)},
                    {"rootfs", std::move(rootfs)}};
  return to_json(json::object{{"chainID", image.digest}, {"imageSpec", std::move(spec)}});
}

void set_time(content::Timestamp& out, WallTime time) {
  const auto nanos = time.time_since_epoch().count();
  out.set_seconds(nanos / 1'000'000'000);
  out.set_nanos(static_cast<std::int32_t>(nanos % 1'000'000'000));
}

template <class Message>
Result<Message> parse(const std::string& bytes) {
  Message out;
  if (!out.ParseFromString(bytes)) return fail(Code::bad_request, "malformed message");
  return out;
}

}  // namespace

Result<ImageQuestion> decode_list_images_request(const std::string& bytes) {
  PLIM_TRY(auto request, parse<cri::ListImagesRequest>(bytes));
  return ImageQuestion{.name = request.filter().image().image()};
}

Result<ImageQuestion> decode_image_status_request(const std::string& bytes) {
  PLIM_TRY(auto request, parse<cri::ImageStatusRequest>(bytes));
  if (request.image().image().empty()) return fail(Code::bad_request, "the request names no image");
  return ImageQuestion{.name = request.image().image(), .verbose = request.verbose()};
}

std::string encode_image_status_request(const ImageQuestion& question) {
  cri::ImageStatusRequest out;
  out.mutable_image()->set_image(question.name);
  out.set_verbose(question.verbose);
  return out.SerializeAsString();
}

std::string encode_version(const std::string& runtime_version) {
  cri::VersionResponse out;
  out.set_version("0.1.0");  // of the CRI handshake
  out.set_runtime_name("plimsoll");
  out.set_runtime_version(runtime_version);
  out.set_runtime_api_version("v1");
  return out.SerializeAsString();
}

std::string encode_image_event(WallTime now) {
  containerd::services::events::v1::Envelope out;
  const auto nanos = now.time_since_epoch().count();
  out.mutable_timestamp()->set_seconds(nanos / 1'000'000'000);
  out.mutable_timestamp()->set_nanos(static_cast<std::int32_t>(nanos % 1'000'000'000));
  out.set_namespace_("k8s.io");
  out.set_topic("/images/update");
  out.mutable_event()->set_type_url("containerd.events.ImageUpdate");
  return out.SerializeAsString();
}

std::string encode_list_images(const ImageList& images, const ImageQuestion& question) {
  cri::ListImagesResponse out;
  for (const images::NamedImage& image : by_content(images))
    if (is_meant(image, question.name)) fill(*out.add_images(), image);
  return out.SerializeAsString();
}

std::string encode_image_status(const ImageList& images, const ImageQuestion& question) {
  cri::ImageStatusResponse out;
  for (const images::NamedImage& image : by_content(images)) {
    if (!is_meant(image, question.name)) continue;
    fill(*out.mutable_image(), image);
    if (question.verbose) (*out.mutable_info())["info"] = verbose_info(*image.image);
    break;
  }
  return out.SerializeAsString();
}

std::string encode_image_fs(const ImageList& images, const std::string& mountpoint, WallTime now) {
  std::map<std::string, std::int64_t> layers;
  for (const auto& image : images)
    for (const images::Layer& layer : image->layers) layers[layer.digest] = layer.bytes;
  std::int64_t used = 0;
  for (const auto& [digest, bytes] : layers) used += bytes;
  cri::ImageFsInfoResponse out;
  auto& filesystem = *out.add_image_filesystems();
  filesystem.set_timestamp(now.time_since_epoch().count());
  filesystem.mutable_fs_id()->set_mountpoint(mountpoint);
  filesystem.mutable_used_bytes()->set_value(static_cast<std::uint64_t>(used));
  filesystem.mutable_inodes_used()->set_value(layers.size());
  return out.SerializeAsString();
}

std::string encode_content_list(const ImageList& images) {
  content::ListContentResponse out;
  std::set<std::string> known;
  auto add = [&](const std::string& digest, std::int64_t bytes) -> content::Info* {
    if (!known.insert(digest).second) return nullptr;
    content::Info& info = *out.add_info();
    info.set_digest(digest);
    info.set_size(bytes);
    return &info;
  };
  for (const auto& image : images) {
    if (content::Info* manifest = add(image->digest, kManifestBytes)) {
      auto& labels = *manifest->mutable_labels();
      labels["containerd.io/gc.ref.content.config"] = image_id(*image);
      for (std::size_t i = 0; i < image->layers.size(); ++i)
        labels[fmt::format("containerd.io/gc.ref.content.l.{}", i)] = image->layers[i].digest;
    }
    add(image_id(*image), kConfigBytes);
    for (const images::Layer& layer : image->layers)
      if (content::Info* blob = add(layer.digest, layer.bytes))
        (*blob->mutable_labels())["containerd.io/uncompressed"] = layer.digest;
  }
  return out.SerializeAsString();
}

std::string encode_content_statuses(const std::vector<images::NodeImages::Moving>& moving,
                                    WallTime now) {
  content::ListStatusesResponse out;
  for (const images::NodeImages::Moving& layer : moving) {
    auto& status = *out.add_statuses();
    set_time(*status.mutable_started_at(), layer.started);
    set_time(*status.mutable_updated_at(), now);
    status.set_ref("layer-" + layer.layer.digest);
    status.set_offset(layer.moved);
    status.set_total(layer.layer.bytes);
    status.set_expected(layer.layer.digest);
  }
  return out.SerializeAsString();
}

Result<std::vector<std::string>> describe_images(const std::string& list_images_response) {
  PLIM_TRY(auto response, parse<cri::ListImagesResponse>(list_images_response));
  std::vector<std::string> out;
  for (const cri::Image& image : response.images())
    out.push_back(fmt::format("{} {}|{} {}", image.id().substr(0, 7),
                              fmt::join(image.repo_tags(), ","), image.repo_digests_size(),
                              image.size()));
  return out;
}

Result<std::vector<std::string>> describe_content(const std::string& list_content_response) {
  PLIM_TRY(auto response, parse<content::ListContentResponse>(list_content_response));
  std::vector<std::string> out;
  for (const content::Info& info : response.info()) {
    const std::map<std::string, std::string> labels(info.labels().begin(), info.labels().end());
    std::string line = fmt::format("{} {}", info.digest(), info.size());
    for (const auto& [name, value] : labels) line += fmt::format(" {}={}", name, value);
    out.push_back(std::move(line));
  }
  return out;
}

Result<std::vector<std::string>> describe_statuses(const std::string& list_statuses_response) {
  PLIM_TRY(auto response, parse<content::ListStatusesResponse>(list_statuses_response));
  std::vector<std::string> out;
  for (const content::Status& status : response.statuses())
    out.push_back(fmt::format("{} {}/{}", status.ref(), status.offset(), status.total()));
  return out;
}

Result<std::string> describe_image_status(const std::string& image_status_response) {
  PLIM_TRY(auto response, parse<cri::ImageStatusResponse>(image_status_response));
  if (!response.has_image()) return std::string();
  std::string out = fmt::format("{}", fmt::join(response.image().repo_tags(), ","));
  for (const auto& [key, text] : response.info()) out += fmt::format(" {}={}", key, text);
  return out;
}

}  // namespace plim::local::kubelet
