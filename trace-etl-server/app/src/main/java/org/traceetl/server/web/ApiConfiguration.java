package org.traceetl.server.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.MethodParameter;
import org.springframework.format.FormatterRegistry;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.accept.HeaderContentNegotiationStrategy;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.ContentNegotiationConfigurer;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Cacheable;
import org.traceetl.server.http.WithoutApplications;

/** What all paths of the API have in common: none changes anything, each knows its parameters. */
@Configuration(proxyBeanMethods = false)
class ApiConfiguration implements WebMvcConfigurer {
  private static final String API = "/api/";

  /** Short, as a page that polls must show each change; two views of it poll at once. */
  private static final String CACHE = "private, max-age=2";

  @Override
  public void addFormatters(FormatterRegistry registry) {
    registry.addConverter(new Parameters.Reader());
  }

  /** Gives methods what the sender may see. */
  @Override
  public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
    resolvers.add(
        new HandlerMethodArgumentResolver() {
          @Override
          public boolean supportsParameter(MethodParameter parameter) {
            return parameter.getParameterType() == Access.class;
          }

          @Override
          public Object resolveArgument(
              MethodParameter parameter,
              ModelAndViewContainer container,
              NativeWebRequest request,
              WebDataBinderFactory binders) {
            return Access.of(request.getNativeRequest(HttpServletRequest.class));
          }
        });
  }

  @Override
  public void addInterceptors(InterceptorRegistry registry) {
    registry.addInterceptor(new BeforeAnswer()).addPathPatterns(API + "**");
  }

  /** The API has one representation of each answer, whatever Accept says. */
  @Override
  public void configureContentNegotiation(ContentNegotiationConfigurer configurer) {
    var byHeader = new HeaderContentNegotiationStrategy();
    configurer.strategies(
        List.of(request ->
            request.getNativeRequest(HttpServletRequest.class).getServletPath().startsWith(API)
                ? List.of(MediaType.ALL)
                : byHeader.resolveMediaTypes(request)));
  }

  /** Refuses wrong requests, and answers those whose caller has the answer already. */
  private static final class BeforeAnswer implements HandlerInterceptor {
    @Override
    public boolean preHandle(
        HttpServletRequest request, HttpServletResponse response, Object handler)
        throws HttpRequestMethodNotSupportedException {
      if (!(handler instanceof HandlerMethod method)) {
        throw new ResponseStatusException(
            HttpStatus.NOT_FOUND,
            request.getRequestURI() + ": is not a path of the API; /openapi.yaml lists the paths");
      }
      // A POST is only here if the path has one.
      if (!ApiProblems.METHODS.contains(request.getMethod())
          && !ApiProblems.POST.equals(request.getMethod())) {
        throw new HttpRequestMethodNotSupportedException(request.getMethod());
      }
      boolean seesAll = Access.of(request).isToAll();
      if (!seesAll && !isForAll(method)) {
        throw new ResponseStatusException(
            HttpStatus.FORBIDDEN, WebSecurity.requiresAll(request.getServletPath()));
      }
      Parameters.check(given(request), method);
      // The tag tells of changes that the sender may not see.
      if (!seesAll || !(method.getBean() instanceof Cacheable cacheable)) {
        response.setHeader("Cache-Control", "no-store");
        return true;
      }
      String tag = cacheable.tag();
      response.setHeader("Cache-Control", CACHE);
      // Weak: compressed or not, it is the same answer.
      return tag == null
          || !new ServletWebRequest(request, response).checkNotModified("W/\"" + tag + "\"");
    }

    /** Whether senders who may not see all applications may ask. */
    private static boolean isForAll(HandlerMethod method) {
      return method.hasMethodAnnotation(WithoutApplications.class)
          || Arrays.asList(method.getMethod().getParameterTypes()).contains(Access.class);
    }

    private static Map<String, String[]> given(HttpServletRequest request) {
      try {
        return request.getParameterMap();
      } catch (IllegalStateException e) {
        throw new ResponseStatusException(
            HttpStatus.BAD_REQUEST,
            "the query must be UTF-8, percent-encoded, with at most 1000 parameters",
            e);
      }
    }
  }
}
