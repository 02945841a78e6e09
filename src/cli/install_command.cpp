#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/loop.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "cli/cluster_access.hpp"
#include "cli/commands.hpp"
#include "cli/printer.hpp"
#include "kube/discovery.hpp"
#include "kube/paths.hpp"
#include "roles/manifests.hpp"

namespace plim::cli {
namespace {

std::string name_of(const json::value& object) {
  std::string kind = to_lower(kube::text_at(object, "Object.kind"));
  const std::string_view group = cut(kube::text_at(object, "Object.apiVersion"), '/').first;
  if (kube::text_at(object, "Object.apiVersion").find('/') != std::string_view::npos)
    kind += fmt::format(".{}", group);
  return fmt::format("{}/{}", kind, kube::text_at(object, "Object.metadata.name"));
}

// Applies objects to a cluster or deletes them, and prints a line for each. Belongs to one loop.
class Installer {
 public:
  Installer(Context& context, kube::Config config)
      : context_(context), config_(std::move(config)) {}

  Task<Outcome<void>> apply(std::vector<json::value> objects) {
    auto connected = co_await connect();
    if (!connected) co_return connected;
    kube::WriteOptions options;
    options.dry_run = dry_run_ == "server";
    options.force = true;  // take over fields that a user changed by hand
    for (json::value& object : objects) {
      auto place = co_await find_place(object);
      if (!place) co_return tl::unexpected(std::move(place).error());
      const std::string name = name_of(object);
      auto done = co_await client_->patch(place->resource, place->path, kube::PatchType::apply,
                                          std::move(object), options);
      if (!done) co_return tl::unexpected(failure(name, done.error()));
      if (auto said = say(name, "applied"); !said) co_return said;
    }
    co_return Outcome<void>{};
  }

  Task<Outcome<void>> remove(std::vector<json::value> objects) {
    auto connected = co_await connect();
    if (!connected) co_return connected;
    kube::DeleteOptions options;
    options.dry_run = dry_run_ == "server";
    for (const json::value& object : objects) {
      auto place = co_await find_place(object);
      if (!place) co_return tl::unexpected(std::move(place).error());
      auto done = co_await client_->remove(place->resource, place->path, options);
      const std::string name = name_of(object);
      if (!done && done.error().code != Code::not_found)
        co_return tl::unexpected(failure(name, done.error()));
      if (auto said = say(name, done ? "deleted" : "not found"); !said) co_return said;
    }
    co_return Outcome<void>{};
  }

 private:
  struct Place {
    kube::Resource resource;
    kube::ObjectPath path;
  };

  Task<Outcome<void>> connect() {
    auto client = kube::Client::create(co_await current_loop(), config_);
    if (!client) co_return tl::unexpected(config_failure(client.error()));
    client_ = std::move(*client);
    co_return Outcome<void>{};
  }

  Task<Outcome<Place>> find_place(const json::value& object) {
    const std::string api_version(kube::text_at(object, "Object.apiVersion"));
    const std::string kind(kube::text_at(object, "Object.kind"));
    if (!kinds_.contains(api_version)) {
      auto [group, version] = cut(api_version, '/');
      if (version.empty()) std::swap(group, version);
      auto found = co_await kube::discover(client_, std::string(group), std::string(version));
      if (!found) co_return tl::unexpected(failure(api_version, found.error()));
      kinds_[api_version] = std::move(*found);
    }
    const std::vector<kube::Resource>& kinds = kinds_[api_version];
    auto at = std::ranges::find(kinds, kind, &kube::Resource::kind);
    if (at == kinds.end())
      co_return tl::unexpected(
          failure(kind, fail(Code::not_found, fmt::format("the cluster has no {}", kind))));
    Place out{.resource = *at, .path = {}};
    out.path.name = kube::text_at(object, "Object.metadata.name");
    if (at->namespaced) {
      out.path.ns = kube::text_at(object, "Object.metadata.namespace");
      if (out.path.ns.empty()) out.path.ns = config_.ns;
    }
    co_return out;
  }

  Failure failure(std::string_view what, const Error& error) const {
    Failure out = request_failure(error, describe(config_));
    out.what = fmt::format("{}: {}", what, out.what);
    return out;
  }

  Outcome<void> say(std::string_view name, std::string_view done) {
    return context_.world.out.write(
        fmt::format("{} {}{}\n", name, done, dry_run_.empty() ? "" : " (server dry run)"));
  }

  Context& context_;
  kube::Config config_;
  std::string dry_run_ = context_.values.text("dry-run");  // "" or "server"
  std::shared_ptr<kube::Client> client_;
  std::map<std::string, std::vector<kube::Resource>> kinds_;  // by apiVersion
};

bool has(const std::vector<json::value>& objects, const json::value& object) {
  return std::ranges::find(objects, object) != objects.end();
}

// Of several parts. An object that two parts have is there once.
Outcome<std::vector<json::value>> objects_of(const std::vector<std::string>& roles,
                                             const roles::ManifestChanges& changes) {
  std::vector<json::value> out;
  for (const std::string& role : roles) {
    auto objects = roles::manifests_of(role, changes);
    if (!objects) return tl::unexpected(file_failure(Plm::cannot_read, objects.error()));
    for (json::value& object : *objects)
      if (!has(out, object)) out.push_back(std::move(object));
  }
  return out;
}

struct Parts {
  std::vector<std::string> wanted, others;
};

Outcome<Parts> choose_parts(const Context& context) {
  const std::vector<std::string> all = roles::manifest_roles();
  Parts out{.wanted = context.arguments, .others = {}};
  if (out.wanted.empty()) out.wanted = all;
  for (const std::string& role : out.wanted)
    if (std::ranges::find(all, role) == all.end())
      return usage_failure(Plm::wrong_arguments, fmt::format("unknown role \"{}\"", role),
                           fmt::format("one of {}", fmt::join(all, ", ")));
  for (const std::string& role : all)
    if (std::ranges::find(out.wanted, role) == out.wanted.end()) out.others.push_back(role);
  return out;
}

}  // namespace

Outcome<int> run_install(Context& context) {
  PLIM_CLI_TRY(Parts parts, choose_parts(context));
  PLIM_CLI_TRY(std::vector<json::value> objects,
               objects_of(parts.wanted, {.ns = context.values.text("namespace"),
                                         .image = context.values.text("image")}));
  if (context.values.text("dry-run") == "client") {
    std::string text;
    for (const json::value& object : objects)
      text += fmt::format("{}{}", text.empty() ? "" : "---\n", to_yaml(object));
    PLIM_CLI_CHECK(context.world.out.write(text));
    return 0;
  }
  PLIM_CLI_TRY(kube::Config config, cluster_config(context));
  Loop loop;
  Installer installer(context, std::move(config));
  PLIM_CLI_CHECK(run_to_end(loop, installer.apply(std::move(objects))));
  return 0;
}

Outcome<int> run_uninstall(Context& context) {
  PLIM_CLI_TRY(Parts parts, choose_parts(context));
  const roles::ManifestChanges changes{.ns = context.values.text("namespace"), .image = {}};
  PLIM_CLI_TRY(std::vector<json::value> objects, objects_of(parts.wanted, changes));
  PLIM_CLI_TRY(const std::vector<json::value> kept, objects_of(parts.others, changes));
  std::ranges::reverse(objects);
  // A namespace may contain objects of other owners. An admission policy protects other parts too.
  std::erase_if(objects, [&kept](const json::value& each) {
    return kube::text_at(each, "Object.kind") == "Namespace" || has(kept, each);
  });
  if (context.values.text("dry-run") == "client") {
    std::string text;
    for (const json::value& object : objects)
      text += fmt::format("{} deleted (dry run)\n", name_of(object));
    PLIM_CLI_CHECK(context.world.out.write(text));
    return 0;
  }
  PLIM_CLI_TRY(kube::Config config, cluster_config(context));
  Loop loop;
  Installer installer(context, std::move(config));
  PLIM_CLI_CHECK(run_to_end(loop, installer.remove(std::move(objects))));
  return 0;
}

}  // namespace plim::cli
