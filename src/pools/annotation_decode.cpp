#include <array>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/json_mistake.hpp"
#include "base/text.hpp"
#include "pools/annotation.hpp"

namespace plim::pools {
namespace {

namespace dom = simdjson::dom;
using Element = std::optional<dom::element>;

constexpr std::size_t kMaxAnnotation = 256u << 10;
constexpr std::size_t kMaxContainers = 64;
constexpr std::size_t kMaxProcesses = 256;
constexpr std::size_t kMaxWarnings = 8;           // more would not be read
constexpr std::int64_t kMaxCpus = 1'000'000'000;  // the starter reads nine digits

tl::unexpected<Rejection> reject(std::string_view code, std::string text) {
  return tl::unexpected(Rejection{code, std::move(text)});
}

// Accepts a missing value, null or a string. Arguments of programs cannot contain a NUL.
Admitted<std::string> text_of(const Element& element, std::string_view name,
                              std::string_view where) {
  if (!element || element->is_null()) return std::string();
  std::string_view text;
  if (element->get_string().get(text))
    return reject("ANN001", fmt::format("{}: {} is not a string", where, name));
  if (text.find('\0') != text.npos)
    return reject("ANN001", fmt::format("{}: {} contains a NUL character", where, name));
  return std::string(text);
}

// The parser does not say where it stopped, so the text is read again.
std::string mistake_in(std::string_view text, simdjson::error_code broken) {
  const auto mistake = find_json_mistake(text);
  if (!mistake) return simdjson::error_message(broken);
  return located("", position_of(text, mistake->offset), mistake->message);
}

class AnnotationReader {
 public:
  Admitted<Annotation> read(std::string_view text) {
    if (text.size() > kMaxAnnotation)
      return reject("ANN014", fmt::format("the annotation has {} bytes, {} are allowed",
                                          text.size(), kMaxAnnotation));
    dom::element root;
    if (const auto broken = parser_.parse(text.data(), text.size()).get(root))
      return reject("ANN001", "the annotation is not JSON: " + mistake_in(text, broken));
    dom::array list;
    if (root.get_array().get(list)) return reject("ANN001", "the annotation is not a JSON array");
    std::size_t index = 0;
    for (dom::element item : list) {
      if (index == kMaxContainers)
        return reject("ANN014", fmt::format("the annotation names {} containers, {} are allowed",
                                            list.size(), kMaxContainers));
      auto container = read_container(item, index++);
      if (!container) return tl::unexpected(container.error());
      if (out_.find(container->name) != nullptr)
        return reject("ANN008", fmt::format("container {} is named twice, the second time in "
                                            "element {}",
                                            quote(container->name), index - 1));
      out_.containers.push_back(std::move(*container));
    }
    return std::move(out_);
  }

 private:
  template <std::size_t N>
  Admitted<std::array<Element, N>> members(dom::element from,
                                           const std::array<std::string_view, N>& names,
                                           const std::string& where) {
    dom::object object;
    if (from.get_object().get(object)) return reject("ANN001", where + " is not a JSON object");
    std::array<Element, N> out;
    std::set<std::string_view> seen;
    for (dom::key_value_pair field : object) {
      if (!seen.insert(field.key).second)
        return reject("ANN001", fmt::format("{} has {} twice", where, quote(field.key)));
      bool known = false;
      for (std::size_t i = 0; i < N; ++i) {
        if (names[i] != field.key) continue;
        out[i] = field.value;
        known = true;
      }
      if (!known && out_.warnings.size() < kMaxWarnings)
        out_.warnings.push_back(fmt::format("{}: unknown member {}", where, quote(field.key)));
    }
    return out;
  }

  Admitted<AnnotatedContainer> read_container(dom::element item, std::size_t index) {
    constexpr std::array<std::string_view, 3> kNames{"container", "processes", "onExit"};
    std::string where = fmt::format("element {}", index);
    auto found = members(item, kNames, where);
    if (!found) return tl::unexpected(found.error());
    const auto& [name, processes, on_exit] = *found;
    auto text = text_of(name, "container", where);
    if (!text) return tl::unexpected(text.error());
    if (text->empty()) return reject("ANN002", where + ": container is missing or empty");
    AnnotatedContainer out{.name = std::move(*text)};
    where = fmt::format("container {}", quote(out.name));
    if (on_exit) {
      auto wish = text_of(on_exit, "onExit", where);
      if (!wish) return tl::unexpected(wish.error());
      if (*wish != "failfast" && *wish != "any" && *wish != "last")
        return reject("ANN001", where + ": onExit is not failfast, any or last");
    }
    dom::array list;
    if (processes && !processes->is_null() && processes->get_array().get(list))
      return reject("ANN001", where + ": processes is not a JSON array");
    const bool none = !processes || processes->is_null() || list.size() == 0;
    if (none) return reject("ANN003", where + ": processes is missing or empty");
    for (dom::element process : list) {
      if (out.processes.size() == kMaxProcesses)
        return reject("ANN014", fmt::format("{} has {} processes, {} are allowed", where,
                                            list.size(), kMaxProcesses));
      auto read = read_process(process, fmt::format("{}, process {}", where, out.processes.size()));
      if (!read) return tl::unexpected(read.error());
      out.processes.push_back(std::move(*read));
    }
    return out;
  }

  Admitted<AnnotatedProcess> read_process(dom::element item, const std::string& where) {
    constexpr std::array<std::string_view, 7> kNames{"process", "args", "pool", "cpus",
                                                     "env",     "nice", "sched"};
    auto found = members(item, kNames, where);
    if (!found) return tl::unexpected(found.error());
    const auto& [process, args, pool, cpus, env, nice, sched] = *found;
    auto program = text_of(process, "process", where);
    if (!program) return tl::unexpected(program.error());
    auto pool_name = text_of(pool, "pool", where);
    if (!pool_name) return tl::unexpected(pool_name.error());
    auto amount = read_cpus(cpus, where);
    if (!amount) return tl::unexpected(amount.error());
    if (auto good = check_args(args, where); !good) return tl::unexpected(good.error());
    if (auto good = check_env(env, where); !good) return tl::unexpected(good.error());
    if (auto good = check_priority(nice, sched, where); !good) return tl::unexpected(good.error());
    if (program->empty()) return reject("ANN004", where + ": process is missing or empty");
    if (!cpus || cpus->is_null()) return reject("ANN005", where + ": cpus is missing");
    if (*amount < 1)
      return reject("ANN005", fmt::format("{}: cpus is {}, at least 1 is needed", where, *amount));
    if (pool_name->empty()) return reject("ANN006", where + ": pool is missing or empty");
    if (!args && out_.warnings.size() < kMaxWarnings)
      out_.warnings.push_back(fmt::format("ANN007: {}: args is missing, taken as []", where));
    return AnnotatedProcess{std::move(*pool_name), *amount};
  }

  static Admitted<std::int64_t> read_cpus(const Element& cpus, std::string_view where) {
    std::int64_t out = 0;
    if (!cpus || cpus->is_null()) return out;
    if (cpus->get_int64().get(out))
      return reject("ANN001", fmt::format("{}: cpus is not a whole number", where));
    if (out >= kMaxCpus || out <= -kMaxCpus)
      return reject("ANN001", fmt::format("{}: cpus is {}, out of range", where, out));
    return out;
  }

  static Admitted<void> check_args(const Element& args, std::string_view where) {
    if (!args) return {};
    dom::array list;
    if (args->get_array().get(list))
      return reject("ANN001", fmt::format("{}: args is not a JSON array", where));
    for (dom::element arg : list) {
      if (!arg.is_string())
        return reject("ANN001",
                      fmt::format("{}: args contains a value that is not a string", where));
      if (auto text = text_of(arg, "args", where); !text) return tl::unexpected(text.error());
    }
    return {};
  }

  static Admitted<void> check_env(const Element& env, std::string_view where) {
    if (!env) return {};
    dom::object object;
    if (env->get_object().get(object))
      return reject("ANN001", fmt::format("{}: env is not a JSON object", where));
    std::set<std::string_view> seen;
    for (dom::key_value_pair field : object) {
      const bool is_name = !field.key.empty() && field.key.find('=') == field.key.npos &&
                           field.key.find('\0') == field.key.npos;
      if (!is_name || !field.value.is_string() || !seen.insert(field.key).second)
        return reject("ANN001", fmt::format("{}: env has a bad or repeated entry {}", where,
                                            quote(field.key)));
      if (auto text = text_of(field.value, "env", where); !text)
        return tl::unexpected(text.error());
    }
    return {};
  }

  static Admitted<void> check_priority(const Element& nice, const Element& sched,
                                       std::string_view where) {
    std::int64_t number = 0;
    if (nice && (nice->get_int64().get(number) || number < -20 || number > 19))
      return reject("ANN001", fmt::format("{}: nice is not a whole number from -20 to 19", where));
    if (!sched) return {};
    auto text = text_of(sched, "sched", where);
    if (!text) return tl::unexpected(text.error());
    if (*text == "other" || *text == "batch") return {};
    const auto [policy, level] = cut(*text, ':');
    const auto priority = parse_int<int>(level);
    if ((policy == "fifo" || policy == "rr") && priority && *priority >= 1 && *priority <= 99)
      return {};
    return reject("ANN001",
                  fmt::format("{}: sched is not other, batch, fifo:1-99 or rr:1-99", where));
  }

  dom::parser parser_;
  Annotation out_;
};

}  // namespace

const AnnotatedContainer* Annotation::find(std::string_view container) const {
  for (const AnnotatedContainer& one : containers)
    if (one.name == container) return &one;
  return nullptr;
}

Admitted<Annotation> read_annotation(std::string_view text) {
  return AnnotationReader().read(text);
}

}  // namespace plim::pools
