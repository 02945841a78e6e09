#include "cli/crictl/crictl_args.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "images/runtime.hpp"

namespace plim::cli {
namespace {

constexpr const char* kConfigFile = "/etc/crictl.yaml";

struct CrictlFlag {
  std::string_view name;
  char letter = 0;
  bool takes_value = false;
};

constexpr std::array kCommonFlags{CrictlFlag{"config", 'c', true},
                                  CrictlFlag{"runtime-endpoint", 'r', true},
                                  CrictlFlag{"image-endpoint", 'i', true},
                                  CrictlFlag{"timeout", 't', true},
                                  CrictlFlag{"debug", 'D'},
                                  CrictlFlag{"help", 'h'},
                                  CrictlFlag{"version", 'v'}};
constexpr std::array kImagesFlags{CrictlFlag{"quiet", 'q'},        CrictlFlag{"filter", 'f', true},
                                  CrictlFlag{"output", 'o', true}, CrictlFlag{"digests"},
                                  CrictlFlag{"no-trunc"},          CrictlFlag{"pinned"},
                                  CrictlFlag{"help", 'h'}};
constexpr std::array kPsFlags{CrictlFlag{"id", 0, true},
                              CrictlFlag{"name", 0, true},
                              CrictlFlag{"pod", 'p', true},
                              CrictlFlag{"image", 0, true},
                              CrictlFlag{"state", 's', true},
                              CrictlFlag{"label", 0, true},
                              CrictlFlag{"quiet", 'q'},
                              CrictlFlag{"output", 'o', true},
                              CrictlFlag{"all", 'a'},
                              CrictlFlag{"latest", 'l'},
                              CrictlFlag{"last", 'n', true},
                              CrictlFlag{"no-trunc"},
                              CrictlFlag{"resolve-image-path", 'r'},
                              CrictlFlag{"namespace", 0, true},
                              CrictlFlag{"help", 'h'}};
constexpr std::array kPodsFlags{
    CrictlFlag{"id", 0, true},       CrictlFlag{"name", 0, true},  CrictlFlag{"namespace", 0, true},
    CrictlFlag{"state", 's', true},  CrictlFlag{"label", 0, true}, CrictlFlag{"quiet", 'q'},
    CrictlFlag{"output", 'o', true}, CrictlFlag{"latest", 'l'},    CrictlFlag{"last", 'n', true},
    CrictlFlag{"no-trunc"},          CrictlFlag{"help", 'h'}};
constexpr std::array kInfoFlags{CrictlFlag{"output", 'o', true}, CrictlFlag{"quiet", 'q'},
                                CrictlFlag{"help", 'h'}};
constexpr std::array kVersionFlags{CrictlFlag{"help", 'h'}};

struct CrictlCommand {
  std::string_view name;
  std::span<const CrictlFlag> flags;
  std::string_view usage;
};

const std::array<CrictlCommand, 5> kCommands{{
    {"images", kImagesFlags,
     "images [-q] [-o json|yaml|table] [--digests] [--no-trunc] [--pinned] [-f FILTER] [NAME]"},
    {"ps", kPsFlags,
     "ps [-a] [-q] [-o json|yaml|table] [--no-trunc] [-r] [-l] [-n N] [--id ID] [--name REGEX] "
     "[--pod ID] [--image NAME] [--state STATE] [--label K=V] [--namespace REGEX]"},
    {"pods", kPodsFlags,
     "pods [-q] [-o json|yaml|table] [--no-trunc] [-l] [-n N] [--id ID] [--name REGEX] [--state "
     "STATE] [--label K=V] [--namespace REGEX]"},
    {"info", kInfoFlags, "info [-q] [-o json|yaml]"},
    {"version", kVersionFlags, "version"},
}};

const CrictlCommand* find_command(std::string_view name) {
  if (name == "image" || name == "img") name = "images";
  const auto at = std::ranges::find(kCommands, name, &CrictlCommand::name);
  return at == kCommands.end() ? nullptr : &*at;
}

class WordReader {
 public:
  explicit WordReader(const std::vector<std::string>& words) : words_(words) {}

  Result<CrictlWords> read() {
    for (; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (word.size() > 1 && word.starts_with('-') && !only_arguments_) {
        if (word == "--")
          only_arguments_ = true;
        else
          PLIM_CHECK(read_flag(word));
      } else if (command_ == nullptr) {
        command_ = find_command(word);
        if (command_ == nullptr)
          return fail(Code::invalid,
                      fmt::format("{} is not a command of this crictl; it has images, ps, pods, "
                                  "info and version",
                                  quote(word)));
        flags_ = command_->flags;
        out_.command = command_->name;
      } else {
        out_.arguments.push_back(word);
      }
    }
    return std::move(out_);
  }

 private:
  const CrictlFlag* find(std::string_view name) const {
    const auto at = std::ranges::find(flags_, name, &CrictlFlag::name);
    return at == flags_.end() ? nullptr : &*at;
  }

  const CrictlFlag* find(char letter) const {
    const auto at = std::ranges::find(flags_, letter, &CrictlFlag::letter);
    return at == flags_.end() ? nullptr : &*at;
  }

  Error unknown(std::string_view word) const {
    return fail(Code::invalid,
                fmt::format("unknown flag {}; usage: crictl {}", word,
                            command_ != nullptr ? command_->usage : "[FLAGS] COMMAND"));
  }

  Result<void> set(const CrictlFlag& flag, std::optional<std::string_view> value) {
    if (!value && flag.takes_value) {
      if (at_ + 1 >= words_.size())
        return fail(Code::invalid, fmt::format("--{} needs a value", flag.name));
      value = words_[++at_];
    }
    if (flag.name == "label" || flag.name == "filter") {
      (flag.name == "label" ? out_.labels : out_.filters).emplace_back(*value);
    } else if (!flag.takes_value && value == "false") {
      out_.flags.erase(std::string(flag.name));
    } else if (!flag.takes_value && value && value != "true") {
      return fail(Code::invalid,
                  fmt::format("--{}: expected true or false, not {}", flag.name, quote(*value)));
    } else {
      out_.flags.insert_or_assign(std::string(flag.name), std::string(value.value_or("true")));
    }
    return {};
  }

  Result<void> read_flag(const std::string& word) {
    std::string_view name = word;
    name.remove_prefix(word.starts_with("--") ? 2 : 1);
    std::optional<std::string_view> value;
    if (const auto equals = name.find('='); equals != name.npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    }
    if (const CrictlFlag* flag = find(name)) return set(*flag, value);
    if (word.starts_with("--")) return unknown(word);
    for (std::size_t i = 0; i < name.size(); ++i) {
      const CrictlFlag* flag = find(name[i]);
      if (flag == nullptr || (flag->takes_value && i + 1 < name.size())) return unknown(word);
      PLIM_CHECK(set(*flag, i + 1 == name.size() ? value : std::nullopt));
    }
    return {};
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 1;
  bool only_arguments_ = false;
  const CrictlCommand* command_ = nullptr;
  std::span<const CrictlFlag> flags_ = kCommonFlags;
  CrictlWords out_;
};

// The keys of crictl.yaml; the last two are about commands that this program does not have.
Result<json::value> read_config(const std::string& path) {
  PLIM_TRY(const std::string text, read_file(path));
  if (trim(text).empty()) return json::value(json::object());
  PLIM_TRY(json::value value, parse_yaml(text, path));
  if (value.is_null()) return json::value(json::object());
  if (!value.is_object()) return fail(Code::invalid, fmt::format("{}: expected a map", path));
  constexpr std::array<std::string_view, 6> kKnown{
      "runtime-endpoint",     "image-endpoint",     "timeout", "debug",
      "pull-image-on-create", "disable-pull-on-run"};
  for (const auto& [key, ignored] : value.get_object())
    if (std::ranges::find(kKnown, std::string_view(key)) == kKnown.end())
      return fail(Code::invalid,
                  fmt::format("{}: {} is not an option of crictl.yaml; use {}", path, quote(key),
                              "runtime-endpoint, image-endpoint, "
                              "timeout or debug"));
  return value;
}

Result<std::string> socket_of(std::string_view endpoint) {
  constexpr std::string_view kScheme = "unix://";
  if (endpoint.starts_with(kScheme)) endpoint.remove_prefix(kScheme.size());
  if (!endpoint.starts_with('/'))
    return fail(Code::invalid, fmt::format("endpoint {}: expected a unix socket, such as "
                                           "unix:///run/containerd/containerd.sock",
                                           quote(endpoint)));
  return std::string(endpoint);
}

}  // namespace

std::string CrictlWords::text(std::string_view name) const {
  const auto at = flags.find(name);
  return at == flags.end() ? std::string() : at->second;
}

Result<CrictlWords> parse_crictl(const std::vector<std::string>& words) {
  // -r is --runtime-endpoint before the command and --resolve-image-path after it.
  return WordReader(words).read();
}

Result<CrictlEndpoint> find_endpoint(const CrictlWords& words, const kube::GetEnv& env,
                                     bool for_images) {
  std::string path = words.text("config");
  if (path.empty()) path = env("CRI_CONFIG_FILE").value_or("");
  const bool is_wanted = !path.empty();
  if (!is_wanted) path = kConfigFile;
  auto config = read_config(path);
  if (!config && (is_wanted || config.error().code != Code::not_found)) return config.error();
  const auto setting = [&](std::string_view flag, const char* variable) {
    std::string out = words.text(flag);
    if (out.empty()) out = env(variable).value_or("");
    if (out.empty() && config) out = text_at(*config, {flag});
    return out;
  };
  CrictlEndpoint out;
  std::string endpoint;
  if (for_images) endpoint = setting("image-endpoint", "IMAGE_SERVICE_ENDPOINT");
  if (endpoint.empty()) endpoint = setting("runtime-endpoint", "CONTAINER_RUNTIME_ENDPOINT");
  if (endpoint.empty()) endpoint = images::find_runtime_socket("/");
  PLIM_TRY(out.socket, socket_of(endpoint));
  if (const std::string timeout = words.text("timeout"); !timeout.empty()) {
    PLIM_TRY(out.timeout, parse_duration(timeout));
  } else if (config && int_at(*config, {"timeout"}).value_or(0) > 0) {
    out.timeout = std::chrono::seconds(*int_at(*config, {"timeout"}));
  }
  if (out.timeout <= std::chrono::nanoseconds(0)) out.timeout = CrictlEndpoint().timeout;
  return out;
}

std::string crictl_usage() {
  std::string out =
      "Shows what a container runtime holds. Plimsoll under the name crictl.\n\n"
      "Usage: crictl [-r ENDPOINT] [-i ENDPOINT] [-c FILE] [-t DURATION] COMMAND\n\n";
  for (const CrictlCommand& command : kCommands) out += fmt::format("  crictl {}\n", command.usage);
  out +=
      "\nWithout -r, CONTAINER_RUNTIME_ENDPOINT or /etc/crictl.yaml name the runtime. Without "
      "those it is\nthe first of /run/containerd/containerd.sock, /run/crio/crio.sock and "
      "/var/run/cri-dockerd.sock.\n";
  return out;
}

}  // namespace plim::cli
