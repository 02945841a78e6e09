#include "local/apiserver/schema/testing/random_object.hpp"

#include <array>
#include <random>
#include <string>

namespace plim::local::apiserver::testing {
namespace {

constexpr int kMaxLevels = 9;

class Maker {
 public:
  Maker(std::uint32_t seed, Garbage garbage) : random_(seed), garbage_(garbage) {}

  json::value object(const Type& type, int levels) {
    json::object out;
    // Deep levels get few members, otherwise the tree would explode.
    std::size_t share = levels > 6 ? 2 : 6;
    for (const Field& field : type.fields)
      if (below(share) == 0) out[field.name] = field_value(field, levels);
    if (garbage_ == Garbage::some && below(8) == 0) out["unknown"] = anything();
    return out;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  json::value field_value(const Field& field, int levels) {
    if (garbage_ == Garbage::some && below(25) == 0) return anything();
    if (below(10) == 0) return nullptr;
    if (field.shape == Shape::one) return single(field, levels);
    std::size_t count = below(3);
    if (field.shape == Shape::list) {
      json::array out;
      for (std::size_t i = 0; i < count; ++i) out.push_back(single(field, levels));
      return out;
    }
    json::object out;
    for (std::size_t i = 0; i < count; ++i) out[text()] = single(field, levels);
    return out;
  }

  json::value single(const Field& field, int levels) {
    static constexpr std::array<std::string_view, 6> kQuantities = {"1", "0.1",   "1000m",
                                                                    "0", "1.5Gi", "-3e2"};
    switch (field.scalar) {
      case Scalar::text:
        return json::value(text());
      case Scalar::boolean:
        return below(2) == 0;
      case Scalar::int32:
      case Scalar::int64:
        return static_cast<std::int64_t>(below(4)) * 1000 - 1000;
      case Scalar::number:
        return 0.5 * static_cast<double>(below(5));
      case Scalar::quantity:
        return json::value(kQuantities[below(kQuantities.size())]);
      case Scalar::int_or_string:
        if (below(2) == 0) return json::value("25%");
        return static_cast<std::int64_t>(below(3));
      case Scalar::time:
      case Scalar::micro_time:
        return json::value(below(4) == 0 ? "0001-01-01T00:00:00Z" : "2024-01-02T03:04:05.6+02:00");
      case Scalar::duration:
        return json::value("90s");
      case Scalar::bytes:
        return json::value(below(2) == 0 ? "aGVsbG8=" : "");
      case Scalar::object:
        if (levels == 0) return json::object();
        return object(*field.type, levels - 1);
      case Scalar::any:
        break;
    }
    return anything();
  }

  std::string text() {
    static constexpr std::array<std::string_view, 8> kTexts = {
        "", "web", "RollingUpdate", "ClientIP", "nginx:1.27", "a b", "\"\\", "LoadBalancer"};
    return std::string(kTexts[below(kTexts.size())]);
  }

  json::value anything() {
    switch (below(7)) {
      case 0:
        return nullptr;
      case 1:
        return json::array{1, "x", nullptr};
      case 2:
        return json::object{{"k", json::array{}}};
      case 3:
        return 1e30;
      case 4:
        return json::value(text());
      case 5:
        return std::int64_t{5'000'000'000};
      default:
        return true;
    }
  }

  std::mt19937 random_;
  Garbage garbage_;
};

}  // namespace

json::value random_object(const Type& type, std::uint32_t seed, Garbage garbage) {
  return Maker(seed, garbage).object(type, kMaxLevels);
}

}  // namespace plim::local::apiserver::testing
