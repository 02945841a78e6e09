#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "containerd_content_v1.pb.h"
#include "containerd_events_v1.pb.h"
#include "cri_v1.pb.h"
#include "images/messages.hpp"

namespace plim::images {
namespace {

namespace cri = runtime::v1;
namespace content = containerd::services::content::v1;

constexpr std::string_view kConfigLabel = "containerd.io/gc.ref.content.config";
constexpr std::string_view kLayerLabel = "containerd.io/gc.ref.content.l.";

template <class Message>
Result<Message> parse_message(const std::string& bytes, std::string_view what) {
  Message out;
  if (!out.ParseFromString(bytes))
    return fail(Code::bad_request, fmt::format("the runtime sent a malformed {}", what));
  return out;
}

// Sizes are unsigned in CRI; a value beyond 2^63 is invalid.
std::int64_t as_bytes(std::uint64_t size) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(size, INT64_MAX));
}

WallTime wall_time(const content::Timestamp& time) {
  return WallTime(std::chrono::seconds(time.seconds()) + Nanos(time.nanos()));
}

void set_timestamp(content::Timestamp& out, WallTime time) {
  const auto nanos = time.time_since_epoch().count();
  out.set_seconds(nanos / 1'000'000'000);
  out.set_nanos(static_cast<std::int32_t>(nanos % 1'000'000'000));
}

Blob blob_of(const content::Info& info) {
  Blob out{.digest = info.digest(), .size = std::max<std::int64_t>(0, info.size())};
  std::map<int, std::string> layers;
  for (const auto& [name, value] : info.labels()) {
    if (name == kConfigLabel) out.config = value;
    if (!name.starts_with(kLayerLabel) || value.empty()) continue;
    if (const auto index = parse_int(std::string_view(name).substr(kLayerLabel.size())))
      layers[*index] = value;
  }
  for (auto& [index, digest] : layers) out.layers.push_back(std::move(digest));
  return out;
}

}  // namespace

Result<RuntimeVersion> decode_version(const std::string& bytes) {
  PLIM_TRY(auto message, parse_message<cri::VersionResponse>(bytes, "version"));
  return RuntimeVersion{.name = message.runtime_name(), .version = message.runtime_version()};
}

Result<std::vector<HeldImage>> decode_images(const std::string& bytes) {
  PLIM_TRY(auto message, parse_message<cri::ListImagesResponse>(bytes, "list of images"));
  std::vector<HeldImage> out;
  out.reserve(static_cast<std::size_t>(message.images_size()));
  for (const cri::Image& image : message.images())
    out.push_back({.id = image.id(),
                   .tags = {image.repo_tags().begin(), image.repo_tags().end()},
                   .digests = {image.repo_digests().begin(), image.repo_digests().end()},
                   .size = as_bytes(image.size()),
                   .pinned = image.pinned()});
  return out;
}

Result<std::vector<FilesystemUsage>> decode_filesystems(const std::string& bytes) {
  PLIM_TRY(auto message, parse_message<cri::ImageFsInfoResponse>(bytes, "list of file systems"));
  std::vector<FilesystemUsage> out;
  for (const cri::FilesystemUsage& one : message.image_filesystems())
    out.push_back(
        {.mountpoint = one.fs_id().mountpoint(), .used = as_bytes(one.used_bytes().value())});
  return out;
}

Result<std::vector<Blob>> decode_content(const std::string& bytes) {
  PLIM_TRY(auto message, parse_message<content::ListContentResponse>(bytes, "list of content"));
  std::vector<Blob> out;
  out.reserve(static_cast<std::size_t>(message.info_size()));
  for (const content::Info& info : message.info()) out.push_back(blob_of(info));
  return out;
}

Result<std::vector<Ingest>> decode_ingests(const std::string& bytes) {
  PLIM_TRY(auto message, parse_message<content::ListStatusesResponse>(bytes, "list of pulls"));
  std::vector<Ingest> out;
  for (const content::Status& status : message.statuses())
    out.push_back({.ref = status.ref(),
                   .offset = std::max<std::int64_t>(0, status.offset()),
                   .total = std::max<std::int64_t>(0, status.total()),
                   .started = wall_time(status.started_at()),
                   .updated = wall_time(status.updated_at())});
  return out;
}

std::string encode_read_request(const std::string& digest) {
  content::ReadContentRequest out;
  out.set_digest(digest);
  return out.SerializeAsString();
}

Result<std::string> decode_read_piece(const std::string& bytes) {
  PLIM_TRY(auto message, parse_message<content::ReadContentResponse>(bytes, "piece of content"));
  return std::move(*message.mutable_data());
}

std::string encode_image_events_request() {
  containerd::services::events::v1::SubscribeRequest out;
  out.add_filters(R"(topic~="^/images/")");
  return out.SerializeAsString();
}

std::string encode_verbose_status_request(const std::string& image) {
  cri::ImageStatusRequest out;
  out.mutable_image()->set_image(image);
  out.set_verbose(true);
  return out.SerializeAsString();
}

Result<std::string> decode_verbose_info(const std::string& bytes) {
  PLIM_TRY(auto message, parse_message<cri::ImageStatusResponse>(bytes, "image status"));
  const auto found = message.info().find("info");
  return found == message.info().end() ? std::string() : found->second;
}

std::string encode_version(const RuntimeVersion& version) {
  cri::VersionResponse out;
  out.set_runtime_name(version.name);
  out.set_runtime_version(version.version);
  return out.SerializeAsString();
}

std::string encode_images(const std::vector<HeldImage>& images) {
  cri::ListImagesResponse out;
  for (const HeldImage& image : images) {
    cri::Image& made = *out.add_images();
    made.set_id(image.id);
    for (const std::string& tag : image.tags) made.add_repo_tags(tag);
    for (const std::string& digest : image.digests) made.add_repo_digests(digest);
    made.set_size(static_cast<std::uint64_t>(image.size));
    made.set_pinned(image.pinned);
  }
  return out.SerializeAsString();
}

std::string encode_filesystems(const std::vector<FilesystemUsage>& filesystems) {
  cri::ImageFsInfoResponse out;
  for (const FilesystemUsage& one : filesystems) {
    cri::FilesystemUsage& made = *out.add_image_filesystems();
    made.mutable_fs_id()->set_mountpoint(one.mountpoint);
    made.mutable_used_bytes()->set_value(static_cast<std::uint64_t>(one.used));
  }
  return out.SerializeAsString();
}

std::string encode_content(const std::vector<Blob>& blobs) {
  content::ListContentResponse out;
  for (const Blob& blob : blobs) {
    content::Info& info = *out.add_info();
    info.set_digest(blob.digest);
    info.set_size(blob.size);
    auto& labels = *info.mutable_labels();
    if (!blob.config.empty()) labels[std::string(kConfigLabel)] = blob.config;
    for (std::size_t i = 0; i < blob.layers.size(); ++i)
      labels[fmt::format("{}{}", kLayerLabel, i)] = blob.layers[i];
  }
  return out.SerializeAsString();
}

std::string encode_ingests(const std::vector<Ingest>& ingests) {
  content::ListStatusesResponse out;
  for (const Ingest& ingest : ingests) {
    content::Status& status = *out.add_statuses();
    status.set_ref(ingest.ref);
    status.set_offset(ingest.offset);
    status.set_total(ingest.total);
    set_timestamp(*status.mutable_started_at(), ingest.started);
    set_timestamp(*status.mutable_updated_at(), ingest.updated);
  }
  return out.SerializeAsString();
}

Result<std::string> decode_read_request(const std::string& bytes) {
  PLIM_TRY(auto message, parse_message<content::ReadContentRequest>(bytes, "request"));
  return message.digest();
}

std::string encode_read_piece(const std::string& data) {
  content::ReadContentResponse out;
  out.set_data(data);
  return out.SerializeAsString();
}

std::string encode_verbose_info(const std::string& info) {
  cri::ImageStatusResponse out;
  if (!info.empty()) (*out.mutable_info())["info"] = info;
  return out.SerializeAsString();
}

}  // namespace plim::images
