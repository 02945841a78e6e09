#include "cli/crictl/crictl.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/regex.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "cli/build_info.hpp"
#include "cli/crictl/crictl_args.hpp"
#include "cli/crictl/crictl_messages.hpp"
#include "cli/crictl/crictl_tables.hpp"
#include "cli/interruptible.hpp"
#include "net/rpc.hpp"

namespace plim::cli {
namespace {

// The image of a container. g++ 12 rejects such lists in coroutines, so this is a function.
std::string image_of(const json::value& container) {
  return std::string(text_at(container, {"image", "image"}));
}

// One call of crictl. Belongs to one loop.
class Crictl {
 public:
  Crictl(CrictlWords words, const kube::GetEnv& env) : words_(std::move(words)), env_(env) {}

  // Returns what to print.
  Task<Result<std::string>> run() {
    loop_ = co_await current_loop();
    const std::string& name = words_.command;
    PLIM_CO_CHECK(check_words());
    if (name == "images") co_return co_await images();
    if (name == "ps") co_return co_await containers();
    if (name == "pods") co_return co_await pods();
    if (name == "info") co_return co_await info();
    co_return co_await version();
  }

 private:
  Result<void> check_words() const {
    if (words_.arguments.size() > (words_.command == "images" ? 1u : 0u))
      return fail(Code::invalid, fmt::format("unexpected argument {}; crictl --help shows the "
                                             "usage",
                                             quote(words_.arguments.back())));
    const std::string output = words_.text("output");
    const bool known = output.empty() || output == "json" || output == "yaml" ||
                       (output == "table" && words_.command != "info");
    if (known) return {};
    return fail(Code::invalid, fmt::format("unsupported output format {}", quote(output)));
  }

  enum class Service { runtime, images };

  Task<Result<std::string>> ask(Service service, std::string method, std::string request) {
    PLIM_CO_TRY(const CrictlEndpoint endpoint,
                find_endpoint(words_, env_, service == Service::images));
    if (!channel_ || socket_ != endpoint.socket) {
      socket_ = endpoint.socket;
      channel_ = net::Channel::unix_socket(*loop_, socket_);
    }
    const std::string full =
        fmt::format("/runtime.v1.{}/{}",
                    service == Service::images ? "ImageService" : "RuntimeService", method);
    net::RpcReply reply = co_await channel_->call(full, std::move(request), endpoint.timeout);
    if (reply.status.ok()) co_return std::move(reply.body);
    co_return reply.status.to_error().with_context(
        fmt::format("cannot ask the runtime at unix://{}", socket_));
  }

  // JSON or YAML if wanted; nothing for a table.
  std::optional<std::string> formatted(const json::value& value) const {
    const std::string output = words_.text("output");
    if (output == "json") return to_json_indented(value, 2) + "\n";
    if (output == "yaml") return to_yaml(value) + "\n";
    return std::nullopt;
  }

  std::optional<std::string> ids(const json::array& items) const {
    if (!words_.has("quiet")) return std::nullopt;
    std::string out;
    for (const json::value& item : items) out += fmt::format("{}\n", text_at(item, {"id"}));
    return out;
  }

  CrictlStyle style() const {
    return {.digests = words_.has("digests"),
            .pinned = words_.has("pinned"),
            .no_trunc = words_.has("no-trunc")};
  }

  Task<Result<std::string>> images() {
    const std::string name = words_.arguments.empty() ? "" : words_.arguments[0];
    std::string request = list_images_request(name);
    PLIM_CO_TRY(std::string body, co_await ask(Service::images, "ListImages", std::move(request)));
    PLIM_CO_TRY(json::array found, images_of_response(body));
    // `crictl images ls` is a common way to write `crictl images`. There is no image ls.
    if (found.empty() && name == "ls") {
      PLIM_CO_TRY(body, co_await ask(Service::images, "ListImages", std::string()));
      PLIM_CO_TRY(found, images_of_response(body));
    }
    sort_images(found);
    for (const std::string& filter : words_.filters) PLIM_CO_CHECK(apply_filter(filter, found));
    const json::value all = json::object{{"images", found}};
    if (auto out = formatted(all)) co_return std::move(*out);
    if (auto out = ids(found)) co_return std::move(*out);
    co_return images_table(found, style());
  }

  static Result<void> apply_filter(const std::string& filter, json::array& images) {
    const auto [name, value] = cut(filter, '=');
    std::function<bool(const json::value&)> drops;
    if (name == "dangling") {
      const bool wanted = value == "true";
      drops = [wanted](const json::value& image) {
        return list_at(image, {"repoTags"}).empty() != wanted;
      };
    } else if (name == "reference") {
      PLIM_TRY(const Regex pattern, Regex::compile(value));
      drops = [pattern](const json::value& image) {
        const json::array& digests = list_at(image, {"repoDigests"});
        const std::string_view first =
            digests.empty() ? std::string_view() : std::string_view(digests[0].get_string());
        return !pattern.partial_match(cut(first, '@').first);
      };
    } else {
      return fail(Code::invalid,
                  fmt::format("--filter {}: expected dangling=true, dangling=false or "
                              "reference=REGEX",
                              quote(filter)));
    }
    json::array kept;
    for (const json::value& image : images)
      if (!drops(image)) kept.push_back(image);
    images = std::move(kept);
    return {};
  }

  Result<CrictlFilter> filter() const {
    CrictlFilter out{
        .id = words_.text("id"), .pod = words_.text("pod"), .state = words_.text("state")};
    for (const std::string& label : words_.labels) {
      const auto [key, value] = cut(label, '=');
      if (label.find('=') == label.npos || value.find('=') != value.npos)
        return fail(Code::invalid,
                    fmt::format("--label: expected KEY=VALUE, not {}", quote(label)));
      out.labels.emplace(key, value);
    }
    return out;
  }

  // Applies --name, --namespace, --latest and --last.
  Result<json::array> selected(const json::array& items, bool containers) const {
    PLIM_TRY(const Regex name, Regex::compile(words_.text("name")));
    PLIM_TRY(const Regex ns, Regex::compile(words_.text("namespace")));
    json::array out;
    for (const json::value& item : items) {
      const std::string_view own = text_at(item, {"metadata", "name"});
      const std::string_view where = containers
                                         ? text_at(item, {"labels", "io.kubernetes.pod.namespace"})
                                         : text_at(item, {"metadata", "namespace"});
      if (name.partial_match(own) && ns.partial_match(where)) out.push_back(item);
    }
    sort_by_creation(out);
    std::size_t most = words_.has("latest") ? 1 : out.size();
    if (words_.has("last")) {
      const auto last = parse_int<int>(words_.text("last"));
      if (!last || *last < 0) return fail(Code::invalid, "--last: expected a number from 0");
      if (*last > 0) most = static_cast<std::size_t>(*last);
    }
    while (out.size() > most) out.pop_back();
    return out;
  }

  Task<Result<std::string>> containers() {
    PLIM_CO_TRY(CrictlFilter wanted, filter());
    if (wanted.state.empty() && !words_.has("all")) wanted.state = "running";
    if (words_.has("latest") || words_.has("last")) wanted.state.clear();
    PLIM_CO_TRY(std::string request, list_containers_request(wanted));
    PLIM_CO_TRY(const std::string body,
                co_await ask(Service::runtime, "ListContainers", std::move(request)));
    PLIM_CO_TRY(json::array found, containers_of_response(body));
    if (words_.has("image")) {
      PLIM_CO_TRY(found, co_await of_image(std::move(found)));
    }
    PLIM_CO_TRY(found, selected(found, true));
    const json::value all = json::object{{"containers", found}};
    if (auto out = formatted(all)) co_return std::move(*out);
    if (auto out = ids(found)) co_return std::move(*out);
    if (words_.has("resolve-image-path")) {
      PLIM_CO_TRY(found, co_await with_image_names(std::move(found)));
    }
    co_return containers_table(found, style(), system_clock().wall());
  }

  Task<Result<json::value>> image(std::string name) {
    std::string request = image_status_request(name);
    PLIM_CO_TRY(const std::string body,
                co_await ask(Service::images, "ImageStatus", std::move(request)));
    co_return image_of_response(body);
  }

  // Those with the image of --image.
  Task<Result<json::array>> of_image(json::array containers) {
    PLIM_CO_TRY(const json::value wanted, co_await image(words_.text("image")));
    json::array out;
    if (wanted.is_null()) co_return out;
    for (const json::value& one : containers) {
      std::string name = image_of(one);
      PLIM_CO_TRY(const json::value own, co_await image(std::move(name)));
      if (!own.is_null() && text_at(own, {"id"}) == text_at(wanted, {"id"})) out.push_back(one);
    }
    co_return out;
  }

  Task<Result<json::array>> with_image_names(json::array containers) {
    for (json::value& one : containers) {
      std::string name = image_of(one);
      PLIM_CO_TRY(const json::value own, co_await image(std::move(name)));
      const json::array& tags = list_at(own, {"repoTags"});
      if (!tags.empty()) one.as_object()["image"].as_object()["image"] = tags[0];
    }
    co_return containers;
  }

  Task<Result<std::string>> pods() {
    PLIM_CO_TRY(const CrictlFilter wanted, filter());
    PLIM_CO_TRY(std::string request, list_pods_request(wanted));
    PLIM_CO_TRY(const std::string body,
                co_await ask(Service::runtime, "ListPodSandbox", std::move(request)));
    PLIM_CO_TRY(json::array found, pods_of_response(body));
    PLIM_CO_TRY(found, selected(found, false));
    const json::value all = json::object{{"items", found}};
    if (auto out = formatted(all)) co_return std::move(*out);
    if (auto out = ids(found)) co_return std::move(*out);
    co_return pods_table(found, style(), system_clock().wall());
  }

  Task<Result<std::string>> info() {
    std::string request = status_request(!words_.has("quiet"));
    PLIM_CO_TRY(const std::string body,
                co_await ask(Service::runtime, "Status", std::move(request)));
    PLIM_CO_TRY(json::object status, status_of_response(body));
    const json::value all = std::move(status);
    co_return formatted(all).value_or(to_json_indented(all, 2) + "\n");
  }

  Task<Result<std::string>> version() {
    PLIM_CO_TRY(const std::string body, co_await ask(Service::runtime, "Version", std::string()));
    PLIM_CO_TRY(const json::object fields, version_of_response(body));
    std::string out;
    for (const auto& [name, value] : fields)
      out += fmt::format("{}:  {}\n", std::string_view(name), std::string_view(value.get_string()));
    co_return out;
  }

  CrictlWords words_;
  const kube::GetEnv& env_;
  std::optional<Executor> loop_;
  std::string socket_;
  std::shared_ptr<net::Channel> channel_;
};

int fail_crictl(World& world, const Error& error) {
  (void)world.err.write(fmt::format("crictl: {}\n", error.message));
  return 1;
}

}  // namespace

bool is_crictl(std::string_view argv0) {
  return argv0.substr(argv0.rfind('/') + 1) == "crictl";
}

int run_crictl(World& world, const std::vector<std::string>& words) {
  auto read = parse_crictl(words);
  if (!read) return fail_crictl(world, read.error());
  if (read->command.empty() || read->has("help")) {
    std::string text = crictl_usage();
    if (read->has("version") && read->command.empty())
      text = fmt::format("crictl version plimsoll-{}\n", build_info().version);
    const auto written = world.out.write(text);
    return written ? 0 : written.error().exit;
  }
  Loop loop;
  Crictl crictl(std::move(*read), world.env);
  auto done = run_until_signal(loop, crictl.run());
  if (!done) return kInterrupted;
  if (!*done) return fail_crictl(world, done->error());
  const auto written = world.out.write(**done);
  return written ? 0 : written.error().exit;
}

}  // namespace plim::cli
