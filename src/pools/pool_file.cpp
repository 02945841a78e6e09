#include "pools/pool_file.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.hpp"
#include "base/json_pointer.hpp"
#include "base/yaml.hpp"

namespace plim::pools {
namespace {

constexpr std::size_t kMaxName = 63;
constexpr std::size_t kMaxBaseName = 253;
constexpr std::array<std::string_view, 4> kTopKeys{"resourceBaseName", "nodeSelector", "pools",
                                                   "implicitDefault"};
constexpr std::array<std::string_view, 7> kPoolKeys{
    "cpus",      "pooltype",         "hyperThreadingPolicy", "sharedUnit",
    "partition", "allocationPolicy", "smtOverride"};

bool is_alphanumeric(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string pointer_to(std::string_view parent, std::string_view key) {
  std::string out(parent);
  append_step(out, key);
  return out;
}

std::size_t offset_of(std::string_view text, TextPosition at) {
  std::size_t offset = 0;
  for (int line = 1; line < at.line; ++line) {
    const std::size_t end = text.find('\n', offset);
    if (end == text.npos) return text.size();
    offset = end + 1;
  }
  for (int column = 1; column < at.column && offset < text.size(); ++column)
    offset += std::max<std::size_t>(1, utf8_length(text.substr(offset)));
  return std::min(offset, text.size());
}

class FileReader {
 public:
  FileReader(std::string_view text, const YamlDocument& document, PoolFile& out, Problems& problems)
      : text_(text), document_(document), out_(out), problems_(problems) {}

  void read() {
    const json::object* root = document_.value().if_object();
    if (root == nullptr) {
      if (!document_.value().is_null()) error("", "expected keys such as pools");
      return;
    }
    for (const auto& [key, value] : *root)
      if (std::ranges::find(kTopKeys, std::string_view(key)) == kTopKeys.end())
        unknown(pointer_to("", key), key, kTopKeys);
    if (const json::value* base = root->if_contains("resourceBaseName")) read_base_name(*base);
    if (const json::value* selector = root->if_contains("nodeSelector"))
      read_selector("/nodeSelector", *selector);
    if (const json::value* implicit = root->if_contains("implicitDefault")) {
      if (implicit->is_bool())
        out_.implicit_default = implicit->get_bool();
      else
        error("/implicitDefault", "implicitDefault must be true or false");
    }
    const json::value* pools = root->if_contains("pools");
    if (pools == nullptr) return;
    out_.has_pools = true;
    if (const json::object* all = pools->if_object()) {
      for (const auto& [name, value] : *all) read_pool(std::string(name), value);
    } else if (!pools->is_null()) {
      error("/pools", "pools must map the name of each pool to its settings");
    }
  }

 private:
  void error(std::string_view pointer, std::string_view message) {
    problems_.errors.push_back(document_.error_at(pointer, message).message);
  }

  void error_at_key(std::string_view pointer, std::string_view message) {
    problems_.errors.push_back(document_.error_at_key(pointer, message).message);
  }

  void warn(std::string_view pointer, std::string_view message) {
    problems_.warnings.push_back(document_.error_at_key(pointer, message).message);
  }

  template <std::size_t N>
  void unknown(const std::string& pointer, std::string_view key,
               const std::array<std::string_view, N>& known) {
    const std::vector<std::string_view> all(known.begin(), known.end());
    warn(pointer,
         fmt::format("unknown key {}; expected one of {}", quote(key), fmt::join(all, ", ")));
  }

  // The text as written, not as YAML converts it: 010 is "010", not 8.
  std::string scalar(const std::string& pointer, const json::value& value) const {
    if (value.is_string()) return std::string(value.get_string());
    if (value.is_null()) return {};
    const std::string_view rest = text_.substr(offset_of(text_, document_.position(pointer)));
    return std::string(rest.substr(0, rest.find_first_of(" \t\r\n,}]#")));
  }

  static bool is_scalar(const json::value& value) {
    return !value.is_object() && !value.is_array();
  }

  void read_base_name(const json::value& value) {
    if (!value.is_string() || !is_base_name(value.get_string())) {
      error("/resourceBaseName",
            "resourceBaseName must be a DNS name such as nokia.k8s.io, not of kubernetes.io and "
            "without "
            "requests. in front");
      return;
    }
    out_.base_name = std::string(value.get_string());
  }

  void read_selector(const std::string& pointer, const json::value& value) {
    const json::object* pairs = value.if_object();
    if (pairs == nullptr) {
      if (!value.is_null()) error(pointer, "nodeSelector must map labels to values");
      return;
    }
    out_.has_selector = !pairs->empty();
    for (const auto& [label, wanted] : *pairs) {
      const std::string at = pointer_to(pointer, label);
      if (!is_scalar(wanted))
        error(at, fmt::format("the value of label {} must be a string", quote(label)));
      else
        out_.selector.emplace_back(label, scalar(at, wanted));
    }
  }

  void read_pool(const std::string& name, const json::value& value) {
    const std::string pointer = pointer_to("/pools", name);
    if (name == "nodeSelector") {
      error_at_key(pointer, "nodeSelector belongs next to pools, not inside; indent it less");
      return;
    }
    if (!is_pool_name(name)) {
      error_at_key(pointer,
                   fmt::format("pool {}: a name has 1 to 63 letters, digits, '-', '_' and '.', and "
                               "begins and ends with a letter or digit",
                               quote(name)));
      return;
    }
    const json::object* settings = value.if_object();
    if (settings == nullptr) {
      error(pointer, fmt::format("pool {}: expected settings such as cpus: \"4-7\"", name));
      return;
    }
    for (const auto& [key, ignored] : *settings) {
      if (key == "numa")
        warn(
            pointer_to(pointer, key),
            fmt::format("pool {}: numa has no effect: pods would ask for it by plimsoll.io/numa, "
                        "which is not supported yet; CPUs are packed into one NUMA node where they "
                        "fit",
                        name));
      else if (std::ranges::find(kPoolKeys, std::string_view(key)) == kPoolKeys.end())
        unknown(pointer_to(pointer, key), key, kPoolKeys);
    }
    Pool pool{.name = name, .file = out_.path};
    pool.at = document_.position(settings->contains("cpus") ? pointer + "/cpus" : pointer);
    const std::size_t before = problems_.errors.size();
    read_type(pointer, *settings, pool);
    read_cpus(pointer, *settings, pool);
    read_policy(pointer, *settings, pool);
    read_extras(pointer, *settings, pool);
    if (problems_.errors.size() == before) out_.pools.push_back(std::move(pool));
  }

  void read_type(const std::string& pointer, const json::object& settings, Pool& pool) {
    const bool exclusive = pool.name.starts_with("exclusive");
    const bool shared = pool.name.starts_with("shared");
    pool.type = exclusive ? PoolType::exclusive : shared ? PoolType::shared : PoolType::common;
    const json::value* told = settings.if_contains("pooltype");
    if (told == nullptr) return;
    const std::string at = pointer + "/pooltype";
    const std::string text = is_scalar(*told) ? scalar(at, *told) : "";
    if (text != "exclusive" && text != "shared") {
      error(at, fmt::format("pool {}: pooltype is exclusive or shared, not {}", pool.name,
                            quote(text)));
      return;
    }
    const PoolType type = text == "exclusive" ? PoolType::exclusive : PoolType::shared;
    if ((exclusive || shared) && type != pool.type)
      error(at, fmt::format("pool {}: pooltype {} contradicts its name; rename the pool", pool.name,
                            text));
    pool.type = type;
  }

  void read_cpus(const std::string& pointer, const json::object& settings, Pool& pool) {
    const json::value* told = settings.if_contains("cpus");
    const std::string at = pointer + "/cpus";
    if (told != nullptr && !is_scalar(*told)) {
      error(at, fmt::format("pool {}: cpus must be a string such as \"1,4-7\"", pool.name));
      return;
    }
    const std::string text = told != nullptr ? scalar(at, *told) : "";
    if (trim(text).empty()) {
      if (pool.advertised())
        error(told != nullptr ? at : pointer,
              fmt::format("pool {}: no CPUs; write cpus: \"1,4-7\"", pool.name));
      return;
    }
    auto cpus = parse_pool_cpus(text);
    if (cpus)
      pool.cpus = std::move(*cpus);
    else
      error(at, fmt::format("pool {}: {}", pool.name, cpus.error().message));
  }

  void read_policy(const std::string& pointer, const json::object& settings, Pool& pool) {
    const json::value* told = settings.if_contains("hyperThreadingPolicy");
    if (told == nullptr) return;
    const std::string at = pointer + "/hyperThreadingPolicy";
    const std::string text = is_scalar(*told) ? scalar(at, *told) : "";
    if (text == "singleThreaded")
      pool.smt = SmtPolicy::single;
    else if (text == "multiThreaded")
      pool.smt = SmtPolicy::multi;
    else if (text == "none")
      pool.smt = SmtPolicy::none;
    else
      error(at, fmt::format("pool {}: hyperThreadingPolicy is singleThreaded, multiThreaded or "
                            "none, not {}",
                            pool.name, quote(text)));
    if (pool.type != PoolType::exclusive)
      error(at,
            fmt::format("pool {}: only exclusive pools have a hyperThreadingPolicy", pool.name));
  }

  // The index of the value in the list of words; 0 if the key is missing.
  std::size_t word(const std::string& at, const json::value* told, const Pool& pool,
                   std::string_view key, std::initializer_list<std::string_view> words) {
    if (told == nullptr) return 0;
    const std::string text = is_scalar(*told) ? scalar(at, *told) : "";
    const auto found = std::ranges::find(words, std::string_view(text));
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    error(at, fmt::format("pool {}: {} is one of {}, not {}", pool.name, key,
                          fmt::join(words, ", "), quote(text)));
    return 0;
  }

  void read_extras(const std::string& pointer, const json::object& settings, Pool& pool) {
    constexpr std::array kUnits{1, 10, 100};
    pool.shared_unit = kUnits[word(pointer + "/sharedUnit", settings.if_contains("sharedUnit"),
                                   pool, "sharedUnit", {"1m", "10m", "100m"})];
    constexpr std::array kPartitions{"member", "root", "isolated"};
    pool.partition = kPartitions[word(pointer + "/partition", settings.if_contains("partition"),
                                      pool, "partition", {"member", "root", "isolated"})];
    if (pool.partition != "member")
      warn(pointer + "/partition",
           fmt::format("pool {}: partition {} is not supported yet; it is treated as member",
                       pool.name, pool.partition));
    if (const json::value* told = settings.if_contains("smtOverride")) {
      if (!told->is_bool())
        error(pointer + "/smtOverride",
              fmt::format("pool {}: smtOverride must be true or false", pool.name));
      else if (told->get_bool())
        warn(pointer + "/smtOverride",
             fmt::format("pool {}: smtOverride has no effect: annotation plimsoll.io/smt is not "
                         "supported yet",
                         pool.name));
    }
    pool.spread = word(pointer + "/allocationPolicy", settings.if_contains("allocationPolicy"),
                       pool, "allocationPolicy", {"pack", "spread"}) == 1;
  }

  std::string_view text_;
  const YamlDocument& document_;
  PoolFile& out_;
  Problems& problems_;
};

}  // namespace

bool is_pool_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxName) return false;
  if (!is_alphanumeric(name.front()) || !is_alphanumeric(name.back())) return false;
  return std::ranges::all_of(
      name, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_base_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxBaseName) return false;
  if (name == "kubernetes.io" || name.ends_with(".kubernetes.io")) return false;
  if (name.starts_with("requests.")) return false;
  for (std::string_view label : split(name, '.')) {
    if (label.empty() || label.size() > kMaxName || label.front() == '-' || label.back() == '-')
      return false;
    for (char c : label)
      if (!is_digit(c) && !(c >= 'a' && c <= 'z') && c != '-') return false;
  }
  return true;
}

Result<CpuSet> parse_pool_cpus(std::string_view text) {
  const auto number = [](std::string_view digits, std::string_view item) -> Result<int> {
    if (digits.empty() || !std::ranges::all_of(digits, is_digit))
      return fail(Code::invalid,
                  fmt::format("{} is neither a CPU nor a range such as 4-7", quote(item)));
    auto value = parse_int(digits);
    if (!value || *value >= CpuSet::kMaxCpus)
      return fail(Code::invalid, fmt::format("no kernel has a CPU {}", quote(digits)));
    return *value;
  };
  CpuSet out;
  for (std::string_view part : split(text, ',')) {
    const std::string_view item = trim(part);
    if (item.empty())
      return fail(Code::invalid, fmt::format("empty item between two commas of {}", quote(text)));
    const std::size_t dash = item.find('-');
    PLIM_TRY(const int first, number(item.substr(0, dash), item));
    int last = first;
    if (dash != item.npos) {
      PLIM_TRY(last, number(item.substr(dash + 1), item));
    }
    if (last < first)
      return fail(Code::invalid,
                  fmt::format("range {} runs backwards; write {}-{}", item, last, first));
    for (int cpu = first; cpu <= last; ++cpu) out.add(cpu);
  }
  return out;
}

PoolFile parse_pool_file(std::string_view text, const std::string& path, Problems& problems) {
  PoolFile out{.path = path};
  auto document = parse_yaml_document(text, path);
  if (!document) {
    problems.errors.push_back(document.error().message);
    return out;
  }
  FileReader(text, *document, out, problems).read();
  return out;
}

}  // namespace plim::pools
