#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "images/publisher.hpp"
#include "kube/paths.hpp"

namespace plim::images {

const kube::Resource kNodeImageInventories{.group = "plimsoll.io",
                                           .version = "v1alpha1",
                                           .plural = "nodeimageinventories",
                                           .kind = "NodeImageInventory",
                                           .namespaced = false};

namespace {

constexpr int kTries = 3;  // another client wrote in between

class ResourcePublisher final : public Publisher {
 public:
  ResourcePublisher(std::shared_ptr<kube::Client> client, std::string node)
      : client_(std::move(client)), node_(std::move(node)) {}

  std::string_view name() const override { return "crd"; }

  Nanos shortest_gap() const override { return std::chrono::seconds(1); }

  Task<Result<void>> publish(loop::ImageInventory inventory) override {
    co_await find_owner();
    inventory = loop::fitting_inventory(std::move(inventory));
    json::value spec = loop::inventory_to_json(inventory);
    Error last;
    for (int i = 0; i < kTries; ++i) {
      auto done = co_await write(spec);
      if (done) {
        version_ = kube::text_at(*done, "Object.metadata.resourceVersion");
        co_return Result<void>();
      }
      last = std::move(done).error();
      version_.clear();
      if (last.code != Code::conflict && last.code != Code::already_exists) break;
    }
    co_return last;
  }

 private:
  // Updates the version that we know, otherwise reads the object; creates it if it does not exist.
  Task<Result<json::value>> write(json::value spec) {
    kube::ObjectPath path{.ns = {}, .name = node_};
    if (version_.empty()) {
      auto found = co_await client_->get(kNodeImageInventories, path);
      if (!found && found.error().code != Code::not_found) co_return found.error();
      if (found) version_ = kube::text_at(*found, "Object.metadata.resourceVersion");
    }
    json::value object = wrap(std::move(spec));
    if (version_.empty()) {
      auto created = co_await client_->create(kNodeImageInventories, path, std::move(object));
      if (!created && created.error().code == Code::not_found)
        co_return fail(Code::not_found,
                       "the cluster has no kind NodeImageInventory; run plimsoll install crds");
      co_return created;
    }
    auto updated = co_await client_->update(kNodeImageInventories, path, std::move(object));
    // Deleted meanwhile: start again.
    if (!updated && updated.error().code == Code::not_found)
      co_return fail(Code::conflict, updated.error().message);
    co_return updated;
  }

  json::value wrap(json::value spec) const {
    json::object metadata{{"name", node_}};
    if (!version_.empty()) metadata["resourceVersion"] = version_;
    if (!owner_.empty())
      metadata["ownerReferences"] = json::array{
          json::object{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node_}, {"uid", owner_}}};
    return json::object{{"apiVersion", kube::api_version(kNodeImageInventories)},
                        {"kind", kNodeImageInventories.kind},
                        {"metadata", std::move(metadata)},
                        {"spec", std::move(spec)}};
  }

  // Our pod's token contains the UID, so no permission to read nodes is needed.
  Task<void> find_owner() {
    if (looked_for_owner_) co_return;
    const std::string& file = client_->config().token_file;
    const std::string token = file.empty() ? "" : read_file(file).value_or("");
    owner_ = node_uid_in_token(token, node_);
    bool is_nobody = false;
    if (owner_.empty()) {
      kube::ObjectPath path{.ns = {}, .name = node_};
      auto found = co_await client_->get(kube::resources::nodes, std::move(path));
      if (found) owner_ = kube::text_at(*found, "Object.metadata.uid");
      is_nobody = !found && found.error().code == Code::not_found;
      if (!found && is_retryable(found.error().code)) co_return;
    }
    looked_for_owner_ = true;
    if (is_nobody)
      log::warn("images", "there is no node of this name, so no scheduler reads its inventory",
                {{"node", node_}});
    else if (owner_.empty())
      log::info("images",
                "the inventory stays when the node is deleted: the node's UID is unknown");
  }

  std::shared_ptr<kube::Client> client_;
  std::string node_, version_, owner_;
  bool looked_for_owner_ = false;
};

// JSON Web Tokens use the URL alphabet, without padding.
std::string standard_base64(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (out.size() % 4 != 0) out += '=';
  return out;
}

}  // namespace

std::string node_uid_in_token(std::string_view token, std::string_view node) {
  const auto parts = split(trim(token), '.');
  if (parts.size() != 3) return {};
  auto payload = base64_decode(standard_base64(parts[1]));
  if (!payload) return {};
  auto claims = parse_json(*payload);
  if (!claims || text_at(*claims, {"kubernetes.io", "node", "name"}) != node) return {};
  return std::string(text_at(*claims, {"kubernetes.io", "node", "uid"}));
}

std::unique_ptr<Publisher> publish_to_resource(std::shared_ptr<kube::Client> client,
                                               std::string node) {
  return std::make_unique<ResourcePublisher>(std::move(client), std::move(node));
}

}  // namespace plim::images
