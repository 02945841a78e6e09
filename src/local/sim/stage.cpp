#include "local/sim/stage.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "kube/paths.hpp"

namespace plim::local::sim {
namespace {

const json::value* at_path(const json::value& object, const std::vector<std::string>& path) {
  const json::value* at = &object;
  for (const std::string& key : path) {
    at = find(*at, {key});
    if (!at) return nullptr;
  }
  return at->is_null() ? nullptr : at;
}

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : to_json(value);
}

// .metadata.annotations["a.b/c"]
Result<std::vector<std::string>> parse_path(std::string_view text) {
  std::vector<std::string> out;
  const auto wrong = [&] {
    return fail(Code::invalid, fmt::format("{} is not a path", quote(text)));
  };
  std::string_view rest = text;
  while (!rest.empty()) {
    if (rest.starts_with("[\"")) {
      const std::size_t end = rest.find("\"]");
      if (end == rest.npos) return wrong();
      out.emplace_back(rest.substr(2, end - 2));
      rest.remove_prefix(end + 2);
    } else if (rest.starts_with('.')) {
      const std::size_t end = std::min(rest.find_first_of(".[", 1), rest.size());
      if (end == 1) return wrong();
      out.emplace_back(rest.substr(1, end - 1));
      rest.remove_prefix(end);
    } else {
      return wrong();
    }
  }
  if (out.empty()) return wrong();
  return out;
}

class Reader {
 public:
  explicit Reader(const YamlDocument& document) : document_(document) {}

  Result<Stage> stage(const json::value& value, const std::string& at) const {
    PLIM_CHECK(only(value, at, {"name", "kind", "selector", "delay", "jitter", "weight", "next"}));
    Stage out{.name = std::string(text_at(value, {"name"})),
              .kind = std::string(text_at(value, {"kind"}))};
    if (out.kind != "Pod" && out.kind != "Node")
      return document_.error_at(at + "/kind", "expected Pod or Node");
    if (const json::value* selector = find(value, {"selector"}))
      PLIM_CHECK(this->selector(*selector, at + "/selector", out));
    PLIM_TRY(out.delay, duration(value, at, "delay"));
    PLIM_TRY(out.jitter, duration(value, at, "jitter"));
    if (const json::value* weight = find(value, {"weight"})) {
      if (!weight->is_int64() || weight->get_int64() < 0)
        return document_.error_at(at + "/weight", "expected a whole number, 0 or larger");
      out.weight = static_cast<std::uint64_t>(weight->get_int64());
    }
    const json::value* next = find(value, {"next"});
    if (!next) return document_.error_at(at, "a stage needs the field next");
    PLIM_CHECK(this->next(*next, at + "/next", out));
    return out;
  }

  Result<void> only(const json::value& value, const std::string& at,
                    std::initializer_list<std::string_view> known) const {
    if (!value.is_object()) return document_.error_at(at, "expected a map");
    for (const auto& [key, inner] : value.get_object())
      if (std::ranges::find(known, std::string_view(key)) == known.end())
        return document_.error_at(at, fmt::format("unknown field {}", quote(key)));
    return {};
  }

 private:
  Result<Nanos> duration(const json::value& value, const std::string& at,
                         std::string_view key) const {
    if (!find(value, {key})) return Nanos::zero();
    auto parsed = parse_duration(text_at(value, {key}));
    if (!parsed || *parsed < Nanos::zero())
      return document_.error_at(fmt::format("{}/{}", at, key), "expected a duration such as 5s");
    return *parsed;
  }

  Result<void> selector(const json::value& value, const std::string& at, Stage& out) const {
    PLIM_CHECK(only(value, at, {"matchLabels", "matchExpressions", "matchFields"}));
    json::value labels = value;
    labels.get_object().erase("matchFields");
    auto parsed = kube::LabelSelector::from_json(labels);
    if (!parsed) return document_.error_at(at, parsed.error().message);
    out.labels = std::move(*parsed);
    const json::value* fields = find(value, {"matchFields"});
    if (!fields) return {};
    if (!fields->is_array()) return document_.error_at(at + "/matchFields", "expected a list");
    for (std::size_t i = 0; i < fields->get_array().size(); ++i) {
      const std::string place = fmt::format("{}/matchFields/{}", at, i);
      PLIM_TRY(FieldExpression made, expression(fields->get_array()[i], place));
      out.fields.push_back(std::move(made));
    }
    return {};
  }

  Result<FieldExpression> expression(const json::value& value, const std::string& at) const {
    constexpr std::array<std::string_view, 4> kOps{"In", "NotIn", "Exists", "DoesNotExist"};
    PLIM_CHECK(only(value, at, {"key", "operator", "values"}));
    auto path = parse_path(text_at(value, {"key"}));
    if (!path) return document_.error_at(at, path.error().message);
    const auto op = std::ranges::find(kOps, text_at(value, {"operator"}));
    if (op == kOps.end())
      return document_.error_at(at, "operator: expected In, NotIn, Exists or DoesNotExist");
    FieldExpression out{.path = std::move(*path),
                        .op = static_cast<FieldExpression::Op>(op - kOps.begin())};
    if (const json::value* values = find(value, {"values"})) {
      if (!values->is_array()) return document_.error_at(at + "/values", "expected a list");
      for (const json::value& item : values->get_array()) out.values.push_back(text_of(item));
    }
    return out;
  }

  Result<void> next(const json::value& value, const std::string& at, Stage& out) const {
    PLIM_CHECK(only(value, at, {"status", "event", "delete", "finalizers"}));
    if (const json::value* status = find(value, {"status"})) {
      if (!status->is_object()) return document_.error_at(at + "/status", "expected a map");
      out.status = *status;
    }
    if (const json::value* event = find(value, {"event"})) {
      PLIM_CHECK(only(*event, at + "/event", {"type", "reason", "message"}));
      StageEvent made{.reason = std::string(text_at(*event, {"reason"})),
                      .message = std::string(text_at(*event, {"message"}))};
      if (!text_at(*event, {"type"}).empty()) made.type = text_at(*event, {"type"});
      out.event = std::move(made);
    }
    out.remove = bool_at(value, {"delete"});
    if (const json::value* finalizers = find(value, {"finalizers"})) {
      PLIM_CHECK(only(*finalizers, at + "/finalizers", {"add", "remove"}));
      out.add_finalizers = texts_at(*finalizers, {"add"});
      out.remove_finalizers = texts_at(*finalizers, {"remove"});
    }
    return {};
  }

  const YamlDocument& document_;
};

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

}  // namespace

bool FieldExpression::matches(const json::value& object) const {
  const json::value* found = at_path(object, path);
  const bool listed = found && std::ranges::find(values, text_of(*found)) != values.end();
  switch (op) {
    case Op::in:
      return listed;
    case Op::not_in:
      return !listed;
    case Op::exists:
      return found != nullptr;
    case Op::does_not_exist:
      break;
  }
  return found == nullptr;
}

bool Stage::matches(const json::value& object) const {
  std::vector<std::pair<std::string, std::string>> carried;
  if (const json::value* all = kube::find(object, "Object.metadata.labels");
      all && all->is_object())
    for (const auto& [key, value] : all->get_object())
      if (value.is_string()) carried.emplace_back(key, value.get_string());
  return labels.matches(carried) &&
         std::ranges::all_of(fields, [&](const FieldExpression& e) { return e.matches(object); });
}

Nanos Stage::wait(Random& random) const {
  return delay +
         Nanos(static_cast<Nanos::rep>(static_cast<double>(jitter.count()) * random.unit()));
}

Result<std::vector<Stage>> parse_stages(std::string_view yaml, std::string_view source) {
  PLIM_TRY(YamlDocument document, parse_yaml_document(yaml, source));
  std::vector<Stage> out;
  if (document.value().is_null()) return out;
  const Reader reader(document);
  PLIM_CHECK(reader.only(document.value(), "", {"stages"}));
  const json::value* stages = find(document.value(), {"stages"});
  if (!stages || !stages->is_array()) return document.error_at("", "expected a list of stages");
  for (std::size_t i = 0; i < stages->get_array().size(); ++i) {
    PLIM_TRY(Stage stage, reader.stage(stages->get_array()[i], fmt::format("/stages/{}", i)));
    out.push_back(std::move(stage));
  }
  return out;
}

const Stage* choose_stage(const std::vector<Stage>& stages, std::string_view kind,
                          const json::value& object, Random& random) {
  std::vector<const Stage*> matching;
  std::uint64_t sum = 0;
  for (const Stage& stage : stages) {
    if (stage.kind != kind || !stage.matches(object)) continue;
    matching.push_back(&stage);
    sum += stage.weight;
  }
  if (matching.empty()) return nullptr;
  if (sum == 0) return matching.front();
  std::uint64_t drawn = random.below(sum);
  for (const Stage* stage : matching) {
    if (drawn < stage->weight) return stage;
    drawn -= stage->weight;
  }
  return matching.back();
}

std::string substitute(std::string_view text, const Substitutions& with) {
  std::string out(text);
  if (out.find("${") == out.npos) return out;
  replace_all(out, "${now}", with.now);
  replace_all(out, "${name}", with.name);
  replace_all(out, "${node}", with.node);
  replace_all(out, "${podIP}", with.pod_ip);
  return out;
}

json::value substitute(const json::value& value, const Substitutions& with) {
  if (value.is_string()) return json::value(substitute(std::string_view(value.get_string()), with));
  if (value.is_array()) {
    json::array out;
    for (const json::value& item : value.get_array()) out.push_back(substitute(item, with));
    return out;
  }
  if (!value.is_object()) return value;
  json::object out;
  for (const auto& [key, item] : value.get_object()) out[key] = substitute(item, with);
  return out;
}

}  // namespace plim::local::sim
