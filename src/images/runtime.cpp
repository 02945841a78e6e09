#include "images/runtime.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "base/json.hpp"

namespace plim::images {
namespace {

using namespace std::chrono_literals;
using Layer = loop::ImageInventory::Layer;

constexpr std::array kSockets{"/run/containerd/containerd.sock", "/run/crio/crio.sock",
                              "/var/run/cri-dockerd.sock"};
constexpr auto kPatience = 10s;
constexpr std::size_t kLargestManifest = 4 << 20;  // registries accept no larger ones

// containerd keeps the images of Kubernetes in their own namespace; other services ignore this.
net::RpcMetadata kubernetes_namespace() {
  return {{"containerd-namespace", "k8s.io"}};
}

}  // namespace

std::string find_runtime_socket(const std::string& host_root) {
  const std::string root = host_root == "/" ? "" : host_root;
  std::error_code ignored;
  for (const char* socket : kSockets)
    if (std::filesystem::exists(root + socket, ignored)) return root + socket;
  return root + kSockets.front();
}

Runtime::Runtime(const Executor& loop, std::string socket)
    : socket_(std::move(socket)),
      channel_(net::Channel::unix_socket(loop, socket_, {}, kubernetes_namespace())) {}

Task<Result<std::string>> Runtime::ask(std::string method, std::string request) {
  net::RpcReply reply = co_await channel_->call(std::move(method), std::move(request), kPatience);
  if (!reply.status.ok()) co_return reply.status.to_error();
  co_return std::move(reply.body);
}

Task<Result<RuntimeVersion>> Runtime::version() {
  PLIM_CO_TRY(std::string body, co_await ask("/runtime.v1.RuntimeService/Version", ""));
  co_return decode_version(body);
}

Task<Result<std::vector<HeldImage>>> Runtime::images() {
  PLIM_CO_TRY(std::string body, co_await ask("/runtime.v1.ImageService/ListImages", ""));
  co_return decode_images(body);
}

Task<Result<std::vector<FilesystemUsage>>> Runtime::filesystems() {
  PLIM_CO_TRY(std::string body, co_await ask("/runtime.v1.ImageService/ImageFsInfo", ""));
  co_return decode_filesystems(body);
}

Task<Result<std::vector<Blob>>> Runtime::content() {
  std::vector<Blob> out;
  auto reader =
      co_await channel_->open("/containerd.services.content.v1.Content/List", "", kPatience);
  std::string message;
  while (co_await reader->next(message)) {
    PLIM_CO_TRY(std::vector<Blob> some, decode_content(message));
    std::ranges::move(some, std::back_inserter(out));
  }
  if (!reader->status().ok()) co_return reader->status().to_error();
  co_return out;
}

Task<Result<std::vector<Ingest>>> Runtime::ingests() {
  PLIM_CO_TRY(std::string body,
              co_await ask("/containerd.services.content.v1.Content/ListStatuses", ""));
  co_return decode_ingests(body);
}

Task<Result<std::vector<Layer>>> Runtime::layers_of_manifest(std::string digest) {
  std::string request = encode_read_request(digest);
  auto reader = co_await channel_->open("/containerd.services.content.v1.Content/Read",
                                        std::move(request), kPatience);
  std::string message, text;
  while (co_await reader->next(message)) {
    PLIM_CO_TRY(std::string piece, decode_read_piece(message));
    text += piece;
    if (text.size() > kLargestManifest) co_return fail(Code::too_large, "a manifest is too large");
  }
  if (!reader->status().ok()) co_return reader->status().to_error();
  co_return parse_manifest(text);
}

Task<Result<std::vector<std::string>>> Runtime::diff_ids(std::string image) {
  std::string request = encode_verbose_status_request(image);
  PLIM_CO_TRY(std::string body,
              co_await ask("/runtime.v1.ImageService/ImageStatus", std::move(request)));
  PLIM_CO_TRY(std::string info, decode_verbose_info(body));
  co_return parse_diff_ids(info);
}

Task<std::unique_ptr<net::RpcReader>> Runtime::image_events() {
  std::string request = encode_image_events_request();
  co_return co_await channel_->open("/containerd.services.events.v1.Events/Subscribe",
                                    std::move(request), net::kNoDeadline);
}

Result<std::vector<Layer>> parse_manifest(std::string_view text) {
  PLIM_TRY(json::value manifest, parse_json(text, "manifest"));
  const json::value* layers = find(manifest, {"layers"});
  if (!layers || !layers->is_array()) return fail(Code::invalid, "a manifest without layers");
  std::vector<Layer> out;
  for (const json::value& layer : layers->get_array()) {
    const auto size = int_at(layer, {"size"});
    Layer made{.digest = std::string(text_at(layer, {"digest"})), .size = size.value_or(-1)};
    if (made.digest.empty() || made.size < 0)
      return fail(Code::invalid, "a layer of a manifest has no digest or no size");
    out.push_back(std::move(made));
  }
  return out;
}

Result<std::vector<std::string>> parse_diff_ids(std::string_view info) {
  if (info.empty()) return std::vector<std::string>();
  PLIM_TRY(json::value value, parse_json(info, "image info"));
  return texts_at(value, {"imageSpec", "rootfs", "diff_ids"});
}

}  // namespace plim::images
