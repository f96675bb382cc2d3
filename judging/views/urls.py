"""Addresses: annotators' pages and the lead's."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from judging.views import annotate, lead

urlpatterns = [
    path("", annotate.home, name="home"),
    path("login/", LoginView.as_view(template_name="login.html", redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("language/", include("django.conf.urls.i18n")),
    path("pools/<slug:slug>/judge/", annotate.judge, name="judge"),
    path("pools/<slug:slug>/judge/<int:pair_id>/", annotate.answer, name="answer"),
    path("pools/<slug:slug>/judge/<int:pair_id>/skip/", annotate.skip, name="skip"),
    path("pools/<slug:slug>/heartbeat/", annotate.heartbeat, name="heartbeat"),
    path("pools/<slug:slug>/leave/", annotate.leave, name="leave"),
    path("pools/<slug:slug>/mine/", annotate.mine, name="mine"),
    path("collections/", lead.overview, name="overview"),
    path("collections/<slug:slug>/", lead.collection, name="collection"),
    path("collections/<slug:slug>/evaluation/", lead.evaluation, name="evaluation"),
    path("collections/<slug:slug>/export/", lead.export, name="export"),
    path("collections/<slug:slug>/export/download/", lead.export_download, name="export-download"),
    path("pools/<slug:slug>/", lead.pool, name="pool"),
    path("pools/<slug:slug>/status/", lead.pool_status, name="pool-status"),
    path("pools/<slug:slug>/agreement/", lead.agreement, name="agreement"),
]
